// config.json: what is needed, besides the passphrase or a recovery key, to unwrap the data key. Nothing in it is secret. Everything
// is checked before it is used: a damaged file is told from a wrong passphrase by its checksum, and a file that was
// changed on purpose by the data key's wrapping, which authenticates the parameters, and by the MAC, which authenticates all.

import { hash } from 'node:crypto'
import { isUuid } from '../../protocol/identifiers.ts'
import { type Fields, parseJson, readHex, readInteger, readObject } from './config-fields.ts'
import { keyFields, readKeys, type VaultKeys } from './key-changes.ts'
import {
  KEY_BYTES,
  KEY_DERIVATION_BOUNDS,
  type KeyDerivation,
  SALT_BYTES,
} from './key-derivation.ts'
import { VaultError } from './vault-error.ts'

export interface VaultConfig extends WrappingParameters {
  readonly wrappedKey: WrappedKey
  /** Over everything, from the first change of the keys on. */
  readonly mac?: Buffer
}

export interface WrappingParameters {
  readonly vaultId: string
  readonly keyDerivation: KeyDerivation
  /** Undefined while the keys are those of `svc init`: such a file has format 1, which every version reads. */
  readonly keys?: VaultKeys
}

export interface WrappedKey {
  readonly nonce: Buffer
  readonly ciphertext: Buffer
  readonly tag: Buffer
}

export const CONFIG_BYTES_MAX = 16 * 1024
export const NONCE_BYTES = 12
export const TAG_BYTES = 16
const FORMAT = 1
const FORMAT_OF_CHANGED_KEYS = 2
const KDF = 'argon2id'
const CIPHER = 'chacha20-poly1305'

/** What the wrapping of the data key vouches for. */
export function describeParameters(config: WrappingParameters): Buffer {
  return Buffer.from(JSON.stringify(parameterFields(config)))
}

/** What the MAC vouches for: the whole file but itself and the checksum. */
export function describeConfig(config: Omit<VaultConfig, 'mac'>): Buffer {
  return Buffer.from(JSON.stringify(authenticatedFields(config)))
}

export function formatVaultConfig(config: VaultConfig): string {
  const fields = {
    ...authenticatedFields(config),
    ...(config.mac && { mac: config.mac.toString('hex') }),
  }
  return `${JSON.stringify({ ...fields, checksum: checksumOf(fields) }, undefined, 2)}\n`
}

/** Throws VaultError; `path` is only for its message. */
export function parseVaultConfig(text: string, path: string): VaultConfig {
  const config = readConfig(text, path)
  // One file has one text, so whatever was changed in it shows.
  if (config === undefined || formatVaultConfig(config) !== text) {
    throw new VaultError('vault_corrupt', `${path} is damaged`, {
      hint: 'restore it from a backup; without it nobody can open the vault',
    })
  }
  return config
}

function authenticatedFields(config: Omit<VaultConfig, 'mac'>): object {
  return {
    ...parameterFields(config),
    wrapped_key: {
      cipher: CIPHER,
      nonce: config.wrappedKey.nonce.toString('hex'),
      ciphertext: config.wrappedKey.ciphertext.toString('hex'),
      tag: config.wrappedKey.tag.toString('hex'),
    },
    ...(config.keys && keyFields(config.keys)),
  }
}

function parameterFields({ vaultId, keyDerivation, keys }: WrappingParameters): object {
  const { memoryKib, passes, parallelism, salt } = keyDerivation
  return {
    format: keys === undefined ? FORMAT : FORMAT_OF_CHANGED_KEYS,
    vault_id: vaultId,
    key_derivation: {
      algorithm: KDF,
      memory_kib: memoryKib,
      passes,
      parallelism,
      salt: salt.toString('hex'),
    },
  }
}

function checksumOf(fields: object): string {
  return hash('sha256', JSON.stringify(fields), 'hex')
}

/** The fields, undefined when one is missing or out of bounds; what is too much is not looked at. */
function readConfig(text: string, path: string): VaultConfig | undefined {
  const root = readObject(parseJson(text))
  requireKnownFormat(root['format'], path)
  const config = readPassphraseSlot(root)
  if (config === undefined || root['format'] !== FORMAT_OF_CHANGED_KEYS) return config
  const changed = readKeys(root)
  return changed && { ...config, ...changed }
}

function readPassphraseSlot(root: Fields): VaultConfig | undefined {
  const derivation = readObject(root['key_derivation'])
  const wrapped = readObject(root['wrapped_key'])
  const vaultId = root['vault_id']
  const memoryKib = readInteger(derivation['memory_kib'], KEY_DERIVATION_BOUNDS.memoryKib)
  const passes = readInteger(derivation['passes'], KEY_DERIVATION_BOUNDS.passes)
  const parallelism = readInteger(derivation['parallelism'], KEY_DERIVATION_BOUNDS.parallelism)
  const salt = readHex(derivation['salt'], SALT_BYTES)
  const nonce = readHex(wrapped['nonce'], NONCE_BYTES)
  const ciphertext = readHex(wrapped['ciphertext'], KEY_BYTES)
  const tag = readHex(wrapped['tag'], TAG_BYTES)
  if (typeof vaultId !== 'string' || !isUuid(vaultId)) return undefined
  if (memoryKib === undefined || passes === undefined || parallelism === undefined) return undefined
  if (salt === undefined || nonce === undefined) return undefined
  if (ciphertext === undefined || tag === undefined) return undefined
  return {
    vaultId,
    keyDerivation: { memoryKib, passes, parallelism, salt },
    wrappedKey: { nonce, ciphertext, tag },
  }
}

function requireKnownFormat(format: unknown, path: string): void {
  if (typeof format !== 'number' || !Number.isSafeInteger(format)) return
  if (format <= FORMAT_OF_CHANGED_KEYS) return
  throw new VaultError(
    'vault_newer',
    `${path} has format ${format}, this program knows formats up to ${FORMAT_OF_CHANGED_KEYS}`,
    { hint: 'use the newer version of the program that wrote it' },
  )
}
