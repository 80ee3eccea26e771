import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { initCheapVault } from '../../../test/support/cheap-vault.ts'
import { withFailingDisk } from '../../../test/support/failing-disk.ts'
import {
  collect,
  openBackedUpVault,
  type BackedUpVault,
  VAULT_PASSPHRASE,
} from '../../../test/support/backed-up-vault.ts'
import { createSeededRandom, seedFrom } from '../../../test/simulation/seeded-random.ts'
import { encodeBackupHead, type BackupHead } from '../../backup/backup-head.ts'
import { deriveBackupKeys, FRAME_BYTES } from '../../backup/backup-frames.ts'
import { openBackup } from '../../backup/open-backup.ts'
import { SvcError } from '../../platform/errors.ts'
import { SEAL_BYTES } from '../../platform/sealed-pieces.ts'
import { Secret } from '../../platform/secret.ts'
import { systemClock } from '../../platform/clock.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'
import type { LogTree } from '../domain/log-tree.ts'
import { openVaultStore } from '../open-store.ts'
import { openStatement } from '../service/log-tree.ts'
import type { Store } from '../store/store.ts'
import { insertPasskey } from '../../../test/support/passkey-samples.ts'
import { beginSession } from '../../../test/support/begun-session.ts'
import { openAdmin } from '../../../test/support/told-admin.ts'
import { replayActs } from '../service/admin/replay-acts.ts'
import { SQLITE_COPY_KIND } from '../store/sqlite/database-copy.ts'
import { MIGRATIONS } from '../store/sqlite/migrations.ts'
import { unwrapDataKey } from '../vault/data-key.ts'
import type { VaultConfig } from '../vault/vault-config.ts'
import { lockVault, unsealVault, type UnsealedVault } from '../vault/vault.ts'
import { createBackupMaker } from './make-backup.ts'
import { type KeptOutside, type RestoredBackup, restoreVault } from './restore-vault.ts'
import { verifyBackup } from './verify-backup.ts'

const SEED = seedFrom(process.env['BACKUP_SEED'] ?? '19')
const MUTATIONS = 120

let made: BackedUpVault
let backup: Buffer
let head: BackupHead
let headBytes: number
let signed: LogTree
let scratch: string

before(async () => {
  made = await openBackedUpVault()
  const { vault, store } = made
  await signIn(store)
  await made.fill(1200)
  signed = await made.sign()
  const maker = createBackupMaker({ vault, store, clock: systemClock })
  backup = await collect((await maker.begin('admin')).stream)
  head = (await openBackup(Readable.from([backup]), 'b')).head
  headBytes = encodeBackupHead(head, Buffer.alloc(32)).length
  scratch = await mkdtemp(join(tmpdir(), 'scratch-'))
})
after(async () => {
  await made[Symbol.asyncDispose]()
  await rm(scratch, { recursive: true })
})

/** As somebody who is signed in when the backup is made, and may not be any more when it is restored. */
async function signIn(store: Store): Promise<void> {
  const { admin } = openAdmin(store, { clock: systemClock })
  const { token } = await admin.createAccessToken({ name: 'ana', role: 'viewer' })
  await admin.createSignInLink({ name: 'ana' })
  await beginSession(store, systemClock, token)
  assert.equal((await store.reader.sessions.list()).length, 1)
  await insertPasskey(store, 'ana')
  await store.write(async (writer) => {
    const [ana = assert.fail()] = await writer.listAccessTokens()
    const person = { issuer: 'https://sso.example.org', subject: '7' }
    const hash = 'a'.repeat(64) as TokenHash
    await writer.insertAccessToken({ ...ana, hash, name: 'alice@example.org', person })
  })
}

function reading(bytes: Buffer, passphrase = VAULT_PASSPHRASE) {
  return {
    pieces: Readable.from([bytes]),
    name: 'the file',
    clock: systemClock,
    readable: { kind: SQLITE_COPY_KIND, version: MIGRATIONS.length },
    unwrap: (config: VaultConfig) => unwrapDataKey(config, passphrase),
    open: (vault: UnsealedVault) => openVaultStore(vault, { clock: systemClock, checkPages: true }),
  }
}

async function verify(bytes: Buffer, passphrase?: Secret<string>): Promise<BackupHead> {
  try {
    return await verifyBackup({ ...reading(bytes, passphrase), scratch })
  } finally {
    assert.deepEqual(await readdir(scratch), [])
  }
}

async function another(): Promise<Buffer> {
  const { vault, store } = made
  const maker = createBackupMaker({ vault, store, clock: systemClock })
  return collect((await maker.begin('admin')).stream)
}

const frameAt = (index: number): number => headBytes + index * (FRAME_BYTES + SEAL_BYTES)

describe('[BKP-7] svc backup verify', () => {
  test('opens a whole backup and says what it is of', async () => {
    assert.deepEqual(await verify(backup), head)
    assert.ok(backup.length > frameAt(3), 'the backup has several frames')
  })

  test('refuses another passphrase', async () => {
    await assert.rejects(verify(backup, new Secret('another passphrase')), {
      code: 'vault_wrong_passphrase',
    })
  })

  test('refuses what is no backup, and an empty file', async () => {
    const unknown = { code: 'backup_unknown', message: 'the file is not a backup of a vault' }
    await assert.rejects(verify(Buffer.from('-----BEGIN AGE ENCRYPTED FILE-----')), unknown)
    await assert.rejects(verify(Buffer.alloc(0)), unknown)
  })

  test('refuses a backup that was cut off, anywhere', async () => {
    const random = createSeededRandom(SEED)
    const ends = [9, headBytes - 1, headBytes, frameAt(1), backup.length - 1]
    for (let count = 0; count < 20; count += 1)
      ends.push(8 + Math.floor(random() * (backup.length - 8)))
    for (const end of ends) {
      await assert.rejects(verify(backup.subarray(0, end)), { code: 'backup_truncated' }, `${end}`)
    }
  })

  test('refuses bytes behind its end', async () => {
    await assert.rejects(verify(Buffer.concat([backup, Buffer.alloc(1)])), {
      code: 'backup_too_long',
    })
    await assert.rejects(verify(Buffer.concat([backup, backup])), { code: 'backup_too_long' })
  })

  test(`[BKP-3] refuses a flipped bit, anywhere (BACKUP_SEED=${SEED})`, async () => {
    const random = createSeededRandom(SEED)
    for (let count = 0; count < MUTATIONS; count += 1) {
      // As often in the head as in the content.
      const range = count % 2 === 0 ? headBytes : backup.length
      const at = Math.floor(random() * range)
      const mutated = Buffer.from(backup)
      mutated.writeUInt8(mutated.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at)
      await assert.rejects(verify(mutated), isRefusal, `byte ${at} (BACKUP_SEED=${SEED})`)
    }
  })

  test('[BKP-3] refuses frames in another order, doubled, left out, or of another backup', async () => {
    const sealedFrame = FRAME_BYTES + SEAL_BYTES
    const frames = [0, 1, 2].map((index) => backup.subarray(frameAt(index), frameAt(index + 1)))
    const [first = backup, second = backup, third = backup] = frames
    const start = backup.subarray(0, headBytes)
    const rest = backup.subarray(frameAt(3))
    const other = await another()
    const otherHead = (await openBackup(Readable.from([other]), 'b')).head
    const otherStart = encodeBackupHead(otherHead, Buffer.alloc(32)).length
    const mixed = Buffer.concat([start, other.subarray(otherStart, otherStart + sealedFrame)])
    for (const pieces of [
      [start, second, first, third, rest],
      [start, first, first, third, rest],
      [start, second, third, rest],
      [mixed, second, third, rest],
    ]) {
      await assert.rejects(verify(Buffer.concat(pieces)), { code: 'backup_damaged' })
    }
  })

  test('[BKP-2] refuses a config.json of another vault, put in by somebody who knows its passphrase', async () => {
    const root = join(made.directory, 'other')
    const passphrase = new Secret('the other passphrase')
    const other = await initCheapVault(root, passphrase)
    const config = await readFile(join(root, 'config.json'), 'utf8')
    const forged = (key: Buffer): Buffer =>
      Buffer.concat([encodeBackupHead({ ...head, config }, key), backup.subarray(headBytes)])
    await assert.rejects(verify(forged(Buffer.alloc(32)), passphrase), {
      code: 'backup_damaged',
      message: 'the head of the file was not written by the vault that its config.json opens',
    })
    // With its data key the head is believed; no frame opens.
    const otherKey = deriveBackupKeys(other.dataKey, head).head
    await assert.rejects(verify(forged(otherKey), passphrase), { code: 'backup_damaged' })
    await assert.rejects(verify(forged(otherKey)), { code: 'vault_wrong_passphrase' })
  })

  test('refuses a backup of a newer version', async () => {
    const key = deriveBackupKeys(made.vault.dataKey, head).head
    const newer = (changes: object): Buffer =>
      Buffer.concat([
        encodeBackupHead({ ...head, program: '9.0.0', ...changes }, key),
        backup.subarray(headBytes),
      ])
    for (const changes of [
      { format: 2 },
      { store: { ...head.store, version: MIGRATIONS.length + 1 } },
      { store: { ...head.store, kind: 'postgresql' } },
    ]) {
      await assert.rejects(verify(newer(changes)), { code: 'backup_newer' })
    }
  })
})

describe('[BKP-8] svc restore', () => {
  const restore = (root: string, bytes = backup): Promise<RestoredBackup> =>
    restoreVault({ ...reading(bytes), root, readKept: undefined, replay: replayActs })

  test('[BKP-9] [SES-12] [OID-12] [PKY-10] makes the vault, whose log goes on with where it comes from', async () => {
    const root = join(made.directory, 'deep', 'restored')
    await restore(root)
    assert.deepEqual((await readdir(root)).sort(), [
      'audit.head',
      'config.json',
      'db.enc',
      'vault.lock',
    ])
    const store = await openVaultStore(await unsealVault(root, VAULT_PASSPHRASE), {
      clock: systemClock,
      checkPages: true,
    })
    const { entries } = head.log
    // Nothing is signed under the name that was used before, and the tree goes on with what it had.
    const tree = await store.reader.findLogTree()
    assert.notEqual(tree?.origin, signed.origin)
    assert.deepEqual(tree?.frontier, signed.frontier)
    const [last] = await store.reader.findEntries([entries + 1])
    assert.equal(last?.eventType, 'vault_restored')
    assert.deepEqual(JSON.parse(last?.payloadText ?? ''), {
      actor: 'admin',
      backup_id: head.backupId,
      backup_created_at: head.createdAt,
      backup_actor: 'admin',
      entries,
      head: head.log.hash,
      checkpoint: signed.checkpoint,
      epoca: tree?.epoch,
      acts_missing: 'SVC_CHECKPOINT_PATH is not set',
    })
    assert.deepEqual(await store.reader.findEntries([entries + 2]), [])
    // Nobody is signed in, and all have their passkeys.
    assert.deepEqual(await store.reader.sessions.list(), [])
    assert.equal((await store.reader.passkeys.list()).length, 1)
    const tokens = await store.reader.listAccessTokens()
    assert.deepEqual(
      tokens.map(({ name }) => name),
      ['ana'],
    )
    await store.close()
  })

  test('[CHN-21] ends each log that comes from the backup when the backup is restored again', async () => {
    const treeIn = async (name: string, kept: Pick<KeptOutside, 'checkpoints' | 'earlier'>) => {
      const root = join(made.directory, name)
      const readKept = async () => ({ ...kept, acts: [] })
      await restoreVault({ ...reading(backup), root, readKept, replay: replayActs })
      const vault = await unsealVault(root, VAULT_PASSPHRASE)
      const store = await openVaultStore(vault, { clock: systemClock })
      const tree = (await store.reader.findLogTree()) ?? assert.fail()
      await store.close()
      return tree
    }
    const first = await treeIn('first', { checkpoints: [signed.checkpoint], earlier: [] })
    const second = await treeIn('second', {
      checkpoints: [first.checkpoint],
      earlier: ['no checkpoint', signed.checkpoint],
    })
    const ended = second.epochs.map((note) => openStatement(second, note))
    assert.deepEqual(
      ended.map((statement) => [statement?.previous, statement?.origin]),
      [
        [signed.origin, second.origin],
        [first.origin, second.origin],
      ],
    )
    assert.ok(second.epoch > first.epoch)
  })

  test('[BKP-19] believes no checkpoint that the vault did not sign', async () => {
    const root = join(made.directory, 'made-up')
    const [origin] = signed.checkpoint.split('\n', 1)
    const madeUp = signed.checkpoint.replace(/\n\d+\n/, '\n999999\n')
    assert.ok(madeUp.startsWith(`${origin}\n999999\n`))
    const { gap } = await restoreVault({
      ...reading(backup),
      root,
      readKept: async () => ({ checkpoints: [madeUp], earlier: [], acts: [] }),
      replay: replayActs,
    })
    assert.equal(gap, 'no acts of this vault are kept')
    const vault = await unsealVault(root, VAULT_PASSPHRASE)
    const store = await openVaultStore(vault, { clock: systemClock })
    const [last] = await store.reader.findEntries([head.log.entries + 1])
    assert.equal(JSON.parse(last?.payloadText ?? '').checkpoint, signed.checkpoint)
    await store.close()
  })

  test('never touches a vault, or a directory with anything in it', async () => {
    const root = join(made.directory, 'taken')
    await restore(root)
    const config = await readFile(join(root, 'config.json'))
    await assert.rejects(restore(root), {
      code: 'vault_exists',
      message: `there is a vault at ${root}`,
    })
    // As a live hub holds it.
    const lock = lockVault(root)
    await assert.rejects(restore(root), { code: 'vault_exists' })
    lock.release()
    assert.deepEqual(await readFile(join(root, 'config.json')), config)
    const used = join(made.directory, 'used')
    await mkdir(used, { mode: 0o700 })
    await writeFile(join(used, 'db.enc'), 'precious')
    await assert.rejects(restore(used), {
      code: 'directory_in_use',
      message: `${used} has other files in it: db.enc`,
    })
    assert.deepEqual(await readdir(used), ['db.enc'])
  })

  test('leaves nothing of a backup that is not whole', async () => {
    const root = join(made.directory, 'refused')
    await assert.rejects(restore(root, backup.subarray(0, -1)), { code: 'backup_truncated' })
    assert.deepEqual(await readdir(root), ['vault.lock'])
    await restore(root)
  })

  test('[BKP-8] ended before any change on the disk leaves no vault, or the whole one', async () => {
    const root = join(made.directory, 'ended')
    const changes = await withFailingDisk(
      () => false,
      () => restore(root),
    )
    assert.ok(changes >= 7, `${changes} changes`)
    for (let end = 1; end <= changes; end += 1) {
      await rm(root, { recursive: true, force: true })
      // All that come after it fail too: as if the process were gone.
      await withFailingDisk(
        (change) => change >= end,
        () => restore(root).catch(() => undefined),
      )
      const isMade = await unsealVault(root, VAULT_PASSPHRASE).then(
        () => true,
        (error: unknown) => {
          assert.equal((error as SvcError).code, 'vault_missing', `ended before change ${end}`)
          return false
        },
      )
      if (!isMade) await restore(root)
      const store = await openVaultStore(await unsealVault(root, VAULT_PASSPHRASE), {
        clock: systemClock,
      })
      const last = await store.write((writer) => writer.findChainEnd())
      assert.equal(last?.seq, head.log.entries + 1, `ended before change ${end}`)
      await store.close()
    }
  })
})

function isRefusal(error: unknown): boolean {
  return error instanceof SvcError
}
