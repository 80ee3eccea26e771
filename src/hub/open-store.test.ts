import assert from 'node:assert/strict'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { initCheapVault } from '../../test/support/cheap-vault.ts'
import { systemClock } from '../platform/clock.ts'
import { Secret } from '../platform/secret.ts'
import { openVaultStore } from './open-store.ts'
import { vaultFiles } from './vault/vault-files.ts'
import { unsealVault } from './vault/vault.ts'

const PAGE_BYTES = 2048

test('[VLT-9] whichever page is damaged, a start that is refused names the file', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'open-store-'))
  t.after(() => rm(directory, { recursive: true }))
  const passphrase = new Secret('correct horse battery staple')
  const { root } = await initCheapVault(join(directory, 'vault'), passphrase)
  const vault = await unsealVault(root, passphrase)
  const openAndClose = async (): Promise<void> => {
    const store = await openVaultStore(vault, { clock: systemClock })
    await store.close()
  }
  await openAndClose()

  const path = vaultFiles(root).database
  const { size } = await stat(path)
  await using file = await open(path, 'r+')
  const changeByte = async (offset: number): Promise<void> => {
    const byte = Buffer.alloc(1)
    await file.read(byte, 0, 1, offset)
    byte[0] = (byte[0] ?? 0) ^ 1
    await file.write(byte, 0, 1, offset)
  }
  let refused = 0
  for (let offset = 100; offset < size; offset += PAGE_BYTES) {
    await changeByte(offset)
    const failure = await openAndClose().catch((error: unknown) => error)
    await changeByte(offset)
    if (failure === undefined) continue
    refused += 1
    assert.ok(failure instanceof Error && failure.message.includes(path), `byte ${offset}`)
  }
  assert.ok(refused > 3, `${refused} pages are read at the start`)
})
