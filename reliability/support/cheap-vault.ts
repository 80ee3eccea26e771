// A vault whose passphrase is cheap to try: within the bounds that a hub takes, and a third of the time of a start less.

import { createCipheriv, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { unwrapDataKey } from '../../src/hub/vault/data-key.ts'
import { deriveKey, KEY_DERIVATION_BOUNDS } from '../../src/hub/vault/key-derivation.ts'
import { initVault } from '../../src/hub/vault/vault.ts'
import {
  describeParameters,
  formatVaultConfig,
  NONCE_BYTES,
  parseVaultConfig,
  TAG_BYTES,
} from '../../src/hub/vault/vault-config.ts'
import { vaultFiles } from '../../src/hub/vault/vault-files.ts'
import { replaceFile } from '../../src/platform/files.ts'
import type { Secret } from '../../src/platform/secret.ts'

export async function createCheapVault(root: string, passphrase: Secret<string>): Promise<void> {
  await initVault(root, passphrase)
  const path = vaultFiles(root).config
  const config = parseVaultConfig(await readFile(path, 'utf8'), path)
  const dataKey = await unwrapDataKey(config, passphrase)
  const { memoryKib, passes, parallelism } = KEY_DERIVATION_BOUNDS
  const parameters = {
    vaultId: config.vaultId,
    keyDerivation: {
      ...config.keyDerivation,
      memoryKib: memoryKib.min,
      passes: passes.min,
      parallelism: parallelism.min,
    },
  }
  const nonce = randomBytes(NONCE_BYTES)
  const wrappingKey = await deriveKey(passphrase, parameters.keyDerivation)
  const cipher = createCipheriv('chacha20-poly1305', wrappingKey, nonce, {
    authTagLength: TAG_BYTES,
  })
  const plaintext = dataKey.reveal()
  cipher.setAAD(describeParameters(parameters), { plaintextLength: plaintext.length })
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  const wrappedKey = { nonce, ciphertext, tag: cipher.getAuthTag() }
  await replaceFile(path, formatVaultConfig({ ...parameters, wrappedKey }), 0o600)
}
