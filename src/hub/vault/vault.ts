// The door of this room: make a vault, lock it against other processes, open it.

export { initVault, makeVault } from './init-vault.ts'
export { recoverDataKey, recoverVault, type UnsealedVault, unsealVault } from './unseal-vault.ts'
export { lockVault, type VaultLock } from './vault-lock.ts'
