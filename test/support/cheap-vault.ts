// A vault whose passphrase is cheap to try: at the lower bounds of what a hub takes, a twentieth of the CPU of a real one.

import { KEY_DERIVATION_BOUNDS } from '../../src/hub/vault/key-derivation.ts'
import { initVault, type UnsealedVault } from '../../src/hub/vault/vault.ts'
import type { Secret } from '../../src/platform/secret.ts'

const { memoryKib, passes, parallelism } = KEY_DERIVATION_BOUNDS

const COST = {
  memoryKib: memoryKib.min,
  passes: passes.min,
  parallelism: parallelism.min,
}

export function initCheapVault(root: string, passphrase: Secret<string>): Promise<UnsealedVault> {
  return initVault(root, passphrase, COST)
}
