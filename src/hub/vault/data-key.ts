// The data key encrypts the database. It is random, and kept only wrapped by the key from the passphrase, so that the
// passphrase can change without touching the data.

import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { Secret } from '../../platform/secret.ts'
import { deriveKey, KEY_BYTES, type KeyDerivationCost, SALT_BYTES } from './key-derivation.ts'
import { describeParameters, NONCE_BYTES, TAG_BYTES, type VaultConfig } from './vault-config.ts'
import { VaultError } from './vault-error.ts'

const CIPHER = 'chacha20-poly1305'

export interface CreatedDataKey {
  readonly config: VaultConfig
  readonly dataKey: Secret<Buffer>
}

export async function createDataKey(
  passphrase: Secret<string>,
  cost: KeyDerivationCost,
): Promise<CreatedDataKey> {
  const parameters = {
    vaultId: randomUUID(),
    keyDerivation: { ...cost, salt: randomBytes(SALT_BYTES) },
  }
  const dataKey = randomBytes(KEY_BYTES)
  const wrappingKey = await deriveKey(passphrase, parameters.keyDerivation)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, wrappingKey, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(describeParameters(parameters), { plaintextLength: KEY_BYTES })
  const ciphertext = Buffer.concat([cipher.update(dataKey), cipher.final()])
  const wrappedKey = { nonce, ciphertext, tag: cipher.getAuthTag() }
  return { config: { ...parameters, wrappedKey }, dataKey: new Secret(dataKey) }
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
  try {
    return new Secret(Buffer.concat([decipher.update(ciphertext), decipher.final()]))
  } catch (error) {
    throw new VaultError('vault_wrong_passphrase', 'unwrap DEK — wrong passphrase?', {
      hint: 'the passphrase is not the one that you gave to `svc init`',
      // The cause says only that authentication failed, which the message says better.
      ...(error instanceof Error ? {} : { cause: error }),
    })
  }
}
