// config.json: what is needed, besides the passphrase, to unwrap the data key. Nothing in it is secret. Everything is
// checked before it is used: a damaged file is told from a wrong passphrase by its checksum, and a file that was
// changed on purpose by the data key's wrapping, which authenticates all the rest.

import { hash } from 'node:crypto'
import { isUuid } from '../../protocol/identifiers.ts'
import {
  KEY_BYTES,
  KEY_DERIVATION_BOUNDS,
  type KeyDerivation,
  SALT_BYTES,
} from './key-derivation.ts'
import { VaultError } from './vault-error.ts'

export interface VaultConfig {
  readonly vaultId: string
  readonly keyDerivation: KeyDerivation
  readonly wrappedKey: WrappedKey
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
const KDF = 'argon2id'
const CIPHER = 'chacha20-poly1305'

/** What the wrapping of the data key vouches for. */
export function describeParameters(config: Omit<VaultConfig, 'wrappedKey'>): Buffer {
  return Buffer.from(JSON.stringify(parameterFields(config)))
}

export function formatVaultConfig(config: VaultConfig): string {
  const fields = {
    ...parameterFields(config),
    wrapped_key: {
      cipher: CIPHER,
      nonce: config.wrappedKey.nonce.toString('hex'),
      ciphertext: config.wrappedKey.ciphertext.toString('hex'),
      tag: config.wrappedKey.tag.toString('hex'),
    },
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

function parameterFields(config: Omit<VaultConfig, 'wrappedKey'>): object {
  const { memoryKib, passes, parallelism, salt } = config.keyDerivation
  return {
    format: FORMAT,
    vault_id: config.vaultId,
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
  if (typeof format !== 'number' || !Number.isSafeInteger(format) || format <= FORMAT) return
  throw new VaultError(
    'vault_newer',
    `${path} has format ${format}, this program knows format ${FORMAT}`,
    { hint: 'use the newer version of the program that wrote it' },
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : {}
}

function readInteger(
  value: unknown,
  bounds: { readonly min: number; readonly max: number },
): number | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined
  return value >= bounds.min && value <= bounds.max ? value : undefined
}

function readHex(value: unknown, bytes: number): Buffer | undefined {
  if (typeof value !== 'string' || value.length !== bytes * 2) return undefined
  return /^[0-9a-f]*$/.test(value) ? Buffer.from(value, 'hex') : undefined
}
