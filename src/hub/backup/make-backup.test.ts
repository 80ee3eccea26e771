import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type BackedUpVault,
  collect,
  openBackedUpVault,
  VAULT_PASSPHRASE,
} from '../../../test/support/backed-up-vault.ts'
import { openBackup } from '../../backup/open-backup.ts'
import { discardTaken } from '../../platform/discard-bytes.ts'
import { systemClock } from '../../platform/clock.ts'
import { openVaultStore } from '../open-store.ts'
import { SQLITE_COPY_KIND } from '../store/sqlite/database-copy.ts'
import { MIGRATIONS } from '../store/sqlite/migrations.ts'
import type { CopiedStore } from '../store/store-copy.ts'
import { BACKUP_PACE } from './backup-pace.ts'
import { checkLog } from './check-log.ts'
import { type BackupMakerOptions, createBackupMaker } from './make-backup.ts'
import { unwrapDataKey } from '../vault/data-key.ts'
import type { VaultConfig } from '../vault/vault-config.ts'
import { unpackBackup } from './unpack-backup.ts'

const PACE = { ...BACKUP_PACE, heldBytesMax: Number.POSITIVE_INFINITY }

function makerOf(made: BackedUpVault, options: Partial<BackupMakerOptions> = {}) {
  const { vault, store } = made
  return createBackupMaker({ vault, store, clock: systemClock, pace: PACE, ...options })
}

/** Opens it as `svc restore` does, and checks the log in it; the number of its last entry. */
async function openCopyOf(made: BackedUpVault, bytes: Buffer): Promise<number> {
  const directory = join(made.directory, 'unpacked')
  await mkdir(directory)
  const { head, vault } = await unpackBackup({
    pieces: Readable.from([bytes]),
    name: 'the backup',
    directory,
    readable: { kind: SQLITE_COPY_KIND, version: MIGRATIONS.length },
    unwrap: (config: VaultConfig) => unwrapDataKey(config, VAULT_PASSPHRASE),
  })
  const store = await openVaultStore(vault, { clock: systemClock, checkPages: true })
  try {
    await checkLog({ reader: store.reader, log: head.log, name: 'the backup' })
    const end = await store.write((writer) => writer.findChainEnd())
    return end?.seq ?? 0
  } finally {
    await store.close()
  }
}

describe('[BKP-1] a backup', () => {
  test('[BKP-4] is of one moment, whatever is written while it is made', async () => {
    await using made = await openBackedUpVault()
    const before = await made.fill(3000)
    const backup = await makerOf(made).begin('admin')
    const moment = backup.head.log.entries
    const ended = new AbortController()
    const writing = (async () => {
      // More than a write-ahead log that is copied back by itself, in pages that the backup has and has not read.
      while (!ended.signal.aborted) await made.fill(500)
    })()
    const bytes = await collect(backup.stream)
    ended.abort()
    await writing
    assert.equal(bytes.length, backup.byteCount)
    assert.equal(moment, before + 1)
    assert.equal(await openCopyOf(made, bytes), moment)
  })

  test('[BKP-4] begins with an entry that says who made it, which it has itself', async () => {
    await using made = await openBackedUpVault()
    const backup = await makerOf(made).begin('admin')
    await collect(backup.stream)
    const [entry] = await made.store.reader.findEntries([backup.head.log.entries])
    assert.equal(entry?.eventType, 'backup_started')
    assert.deepEqual(JSON.parse(entry?.payloadText ?? ''), {
      actor: 'admin',
      backup_id: backup.head.backupId,
    })
  })

  test('[BKP-2] says what it is of before its content', async () => {
    await using made = await openBackedUpVault()
    const backup = await makerOf(made).begin('admin')
    const bytes = await collect(backup.stream)
    const { head } = await openBackup(Readable.from([bytes]), 'the backup')
    assert.deepEqual(head, backup.head)
    assert.equal(head.vaultId, made.vault.vaultId)
    assert.equal(bytes.subarray(0, 8).toString(), 'SVCBKUP1')
  })

  test('[BKP-4] is whole though its reader discards each piece that it has written', async () => {
    await using made = await openBackedUpVault()
    const end = await made.fill(2000)
    const { stream } = await makerOf(made).begin('admin')
    const written: Buffer[] = []
    for await (const piece of discardTaken(stream)) written.push(Buffer.from(piece))
    assert.equal(await openCopyOf(made, Buffer.concat(written)), end + 1)
  })

  test('[BKP-5] is made one at a time; a reader that goes away makes room', async () => {
    await using made = await openBackedUpVault()
    await made.fill(2000)
    const maker = makerOf(made)
    const first = await maker.begin('admin')
    await assert.rejects(maker.begin('admin'), { code: 'backup_running' })
    first.stream.destroy()
    await new Promise((resolve) => first.stream.once('close', resolve))
    const second = await maker.begin('admin')
    const end = await made.fill(2000)
    assert.ok((await openCopyOf(made, await collect(second.stream))) < end)
  })

  test('[BKP-5] [LIM-44] is given up when it holds up too much', async () => {
    await using made = await openBackedUpVault()
    await made.fill(10)
    const maker = makerOf(made, { pace: { ...PACE, heldBytesMax: 100_000 } })
    const { stream } = await maker.begin('admin')
    const failed = new Promise((resolve) => stream.once('error', resolve))
    await made.fill(1000)
    assert.match(String(await failed), /while it was copied, more than 100000$/)
    await made.fill(10)
  })

  test('[BKP-5] is given up, and nothing else, when the disk does not say what it holds up', async () => {
    await using made = await openBackedUpVault()
    const { store } = made
    const failing: CopiedStore = {
      ...store,
      reader: store.reader,
      openCopy: async () => {
        const copy = await store.openCopy()
        return {
          ...copy,
          countHeldBytes: () => Promise.reject(new Error('input/output error')),
          close: async () => {
            await copy.close()
            throw new Error('the disk is gone')
          },
        }
      },
    }
    const maker = makerOf(made, { store: failing })
    const { stream } = await maker.begin('admin')
    const [error] = (await once(stream, 'error')) as [unknown]
    assert.match(String(error), /input\/output error/)
    // An error that nobody handles would end the hub, and this test.
    await nextTurn()
    assert.ok((await makerOf(made).begin('admin')).stream.destroy())
  })

  test('[BKP-5] ends with the store, which loses nothing', async () => {
    await using made = await openBackedUpVault()
    const { stream } = await makerOf(made).begin('admin')
    stream.once('error', () => undefined)
    const end = await made.fill(1000)
    await made.closeStore()
    stream.destroy()
    const store = await openVaultStore(made.vault, { clock: systemClock, checkPages: true })
    const last = await store.write((writer) => writer.findChainEnd())
    assert.equal(last?.seq, end)
    await store.close()
  })
})
