// The data key encrypts the database. It is random, and kept only wrapped by the key from the passphrase, so that the
// passphrase can change without touching the data.

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto'
import { Secret } from '../../platform/secret.ts'
import type { VaultKeys } from './key-changes.ts'
import { deriveKey, KEY_BYTES, type KeyDerivationCost, SALT_BYTES } from './key-derivation.ts'
import {
  describeConfig,
  describeParameters,
  NONCE_BYTES,
  TAG_BYTES,
  type VaultConfig,
  type WrappingParameters,
} from './vault-config.ts'
import { VaultError } from './vault-error.ts'

const CIPHER = 'chacha20-poly1305'
const MAC_KEY_PURPOSE = 'svc vault config v1'

export interface CreatedDataKey {
  readonly config: VaultConfig
  readonly dataKey: Secret<Buffer>
}

export async function createDataKey(
  passphrase: Secret<string>,
  cost: KeyDerivationCost,
): Promise<CreatedDataKey> {
  const dataKey = new Secret(randomBytes(KEY_BYTES))
  const config = await wrapDataKey({ vaultId: randomUUID(), dataKey, passphrase, cost })
  return { config, dataKey }
}

export interface DataKeyToWrap {
  readonly vaultId: string
  readonly dataKey: Secret<Buffer>
  readonly passphrase: Secret<string>
  readonly cost: KeyDerivationCost
  /** Undefined for a vault whose keys have not changed. */
  readonly keys?: VaultKeys
}

export async function wrapDataKey(wanted: DataKeyToWrap): Promise<VaultConfig> {
  const { vaultId, dataKey, passphrase, cost, keys } = wanted
  const parameters: WrappingParameters = {
    vaultId,
    keyDerivation: { ...cost, salt: randomBytes(SALT_BYTES) },
    ...(keys && { keys }),
  }
  const wrappingKey = await deriveKey(passphrase, parameters.keyDerivation)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, wrappingKey, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(describeParameters(parameters), { plaintextLength: KEY_BYTES })
  const ciphertext = Buffer.concat([cipher.update(dataKey.reveal()), cipher.final()])
  const config = { ...parameters, wrappedKey: { nonce, ciphertext, tag: cipher.getAuthTag() } }
  return keys === undefined ? config : { ...config, mac: macOf(config, dataKey) }
}

/** Throws VaultError when the passphrase is not the one that the key was wrapped with. */
export async function unwrapDataKey(
  config: VaultConfig,
  passphrase: Secret<string>,
): Promise<Secret<Buffer>> {
  const { nonce, ciphertext, tag } = config.wrappedKey
  const wrappingKey = await deriveKey(passphrase, config.keyDerivation)
  const decipher = createDecipheriv(CIPHER, wrappingKey, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(describeParameters(config), { plaintextLength: KEY_BYTES })
  decipher.setAuthTag(tag)
  let dataKey: Secret<Buffer>
  try {
    dataKey = new Secret(Buffer.concat([decipher.update(ciphertext), decipher.final()]))
  } catch (error) {
    throw new VaultError('vault_wrong_passphrase', 'unwrap DEK — wrong passphrase?', {
      hint: 'the passphrase is the one of `svc init`, or of the last `svc passphrase change`',
      // The cause says only that authentication failed, which the message says better.
      ...(error instanceof Error ? {} : { cause: error }),
    })
  }
  requireOwnMac(config, dataKey)
  return dataKey
}

/** Throws VaultError when config.json was changed by somebody who has no key of the vault. docs/protocol.md KEY-3. */
export function requireOwnMac(config: VaultConfig, dataKey: Secret<Buffer>): void {
  const { keys, mac } = config
  // The first format has nothing that the wrapping does not authenticate.
  if (keys === undefined) return
  if (mac !== undefined && timingSafeEqual(mac, macOf(config, dataKey))) return
  throw new VaultError('vault_corrupt', 'config.json was changed without a key of the vault', {
    hint: 'put a config.json from a backup in its place, and find out who can write to the vault',
  })
}

function macOf(config: Omit<VaultConfig, 'mac'>, dataKey: Secret<Buffer>): Buffer {
  const key = Buffer.from(hkdfSync('sha256', dataKey.reveal(), '', MAC_KEY_PURPOSE, 32))
  return createHmac('sha256', key).update(describeConfig(config)).digest()
}
