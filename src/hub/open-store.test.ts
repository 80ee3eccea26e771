import assert from 'node:assert/strict'
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBackedUpVault } from '../../test/support/backed-up-vault.ts'
import { initCheapVault } from '../../test/support/cheap-vault.ts'
import { testWitness } from '../../test/support/test-witness.ts'
import { systemClock } from '../platform/clock.ts'
import { Secret } from '../platform/secret.ts'
import { LogVerifier } from '../audit/log-verifier.ts'
import { parseRecord } from '../audit/record.ts'
import { checkpointFiles } from './checkpoint-files.ts'
import { openVaultStore } from './open-store.ts'
import { recordHubAct } from './service/hub-acts.ts'
import { growLogTree, newLogTree, openCheckpoint } from './service/log-tree.ts'
import { openWriter } from './store/sqlite/encrypted-database.ts'
import type { Store } from './store/store.ts'
import { openAuditHeadFile } from './vault/audit-head.ts'
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

test('[CHN-9] [CHN-18] a loss that was accepted is accepted: the vault opens beside the checkpoint of before, and each acceptance has an epoch of its own', async (t) => {
  const made = await openBackedUpVault()
  t.after(() => made[Symbol.asyncDispose]())
  const { vault, directory } = made
  await made.fill(3)
  const checkpointDirectory = join(directory, 'outside')
  await mkdir(checkpointDirectory)
  await checkpointFiles(checkpointDirectory, vault.vaultId).write(await made.sign())
  // An entry that no checkpoint has yet, and that a damaged write-ahead log loses.
  await made.closeStore()
  const lose = (): void => {
    const head = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
    head.reset({ seq: 40, hash: 'a'.repeat(64) })
    head.close()
  }
  const epochs: number[] = []
  const openAt = async (at: string, acceptLoss: boolean): Promise<void> => {
    const clock = { ...systemClock, now: () => new Date(at) }
    const store = await openVaultStore(vault, { clock, checkpointDirectory, acceptLoss })
    epochs.push((await store.reader.findLogTree())?.epoch ?? 0)
    await store.close()
  }
  lose()
  const before = await readFile(vaultFiles(vault.root).database)
  const at = (second: number): string => new Date(1_800_000_000_000 + second * 1000).toISOString()
  await assert.rejects(openAt(at(0), false), { code: 'audit_log_shorter' })
  await openAt(at(1), true)
  await openAt(at(2), false)
  // The vault of before is put back, and its loss accepted again.
  await writeFile(vaultFiles(vault.root).database, before)
  lose()
  await openAt(at(3), true)
  assert.deepEqual(epochs, [1_800_000_001, 1_800_000_001, 1_800_000_003])
  const aside = (await readdir(checkpointDirectory)).filter((name) => name.includes('T'))
  assert.deepEqual(aside, [`${vault.vaultId}.checkpoint.2027-01-15T080001.000Z`])
})

test('[CHN-18] [CHN-40] an earlier vault is found by the checkpoint that witnesses have signed alone, and what is no checkpoint of it is named', async (t) => {
  const made = await openBackedUpVault()
  t.after(() => made[Symbol.asyncDispose]())
  const { vault, directory } = made
  const checkpointDirectory = join(directory, 'outside')
  await mkdir(checkpointDirectory)
  const files = checkpointFiles(checkpointDirectory, vault.vaultId)
  await made.fill(3)
  await made.sign()
  const { database, auditHead } = vaultFiles(vault.root)
  const snapshot = async () => [await readFile(database), await readFile(auditHead)] as const
  await made.closeStore()
  const yesterday = await snapshot()
  const now = (acceptLoss = false) =>
    openVaultStore(vault, { clock: systemClock, checkpointDirectory, acceptLoss })
  const store = await now()
  const newest = await store.write(async (writer) => {
    await recordHubAct(writer, systemClock.now(), 'token_created', { actor: 'admin' })
    const before = (await writer.findLogTree()) ?? assert.fail()
    const { tree, filled } = growLogTree(before, await writer.listRecords(3, 10))
    const signed = { ...tree, cosigned: testWitness().cosign(tree.checkpoint) }
    await writer.putLogTree(signed, filled)
    return signed
  })
  await files.write(newest)
  await store.close()
  const names = [`${vault.vaultId}.checkpoint`, `${vault.vaultId}.cosigned`]
  assert.deepEqual(await readdir(checkpointDirectory), names)
  await (await now()).close()

  // By somebody who puts back all that the hub writes, and forgets what witnesses have signed.
  await writeFile(database, yesterday[0])
  await writeFile(auditHead, yesterday[1])
  await rm(files.newest)
  const cosigned = join(checkpointDirectory, `${vault.vaultId}.cosigned`)
  await assert.rejects(now(), {
    code: 'vault_rolled_back',
    message: `${cosigned}: the checkpoint was signed for 4 entries, and the vault has 3 of them`,
  })
  const note = await readFile(cosigned, 'utf8')
  await writeFile(cosigned, note.replace('\n4\n', '\n2\n'))
  await assert.rejects(now(), {
    message: `${cosigned}: the checkpoint is of another log, or not signed by this vault`,
  })
  await writeFile(cosigned, note)
  await (await now(true)).close()
  const [aside = '', ...more] = await readdir(checkpointDirectory)
  assert.match(aside, /\.cosigned\.\d{4}-\d\d-\d\dT/)
  assert.deepEqual(more, [])
  await (await now()).close()
})

test('[CHN-37] a log that is shorter than its tree is refused, and goes on in another epoch when the loss is accepted', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'open-store-'))
  t.after(() => rm(directory, { recursive: true }))
  const passphrase = new Secret('correct horse battery staple')
  const vault = await initCheapVault(join(directory, 'vault'), passphrase)
  const open_ = (acceptLoss = false) => openVaultStore(vault, { clock: systemClock, acceptLoss })
  const append = (store: Store, count: number): Promise<void> =>
    store.write(async (writer) => {
      for (let number = 0; number < count; number += 1) {
        await recordHubAct(writer, systemClock.now(), 'token_created', { actor: 'admin', number })
      }
    })
  const sign = (store: Store): Promise<void> =>
    store.write(async (writer) => {
      const before = (await writer.findLogTree()) ?? newLogTree(vault.vaultId)
      const records = await writer.listRecords(before.frontier.size, 1000)
      const { tree, filled } = growLogTree(before, records)
      await writer.putLogTree(tree, filled)
    })
  const first = await open_()
  await append(first, 300)
  await sign(first)
  await first.close()

  // By somebody who has the keys of the vault: the head beside it agrees.
  const connection = openWriter(vault.databasePath, vault.dataKey)
  connection.exec('DROP TRIGGER eventos_sem_delete; DELETE FROM eventos WHERE seq > 250')
  const { hash } = connection
    .prepare('SELECT hash_atual AS hash FROM eventos WHERE seq = 250')
    .get() as { hash: string }
  connection.close()
  const head = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
  head.reset({ seq: 250, hash })
  head.close()
  await assert.rejects(open_(), {
    code: 'log_tree_damaged',
    message: 'the audit log’s tree: it has 300 entries, and the log ends with entry 250',
  })

  const store = await open_(true)
  try {
    await append(store, 20)
    await sign(store)
    const tree = (await store.reader.findLogTree()) ?? assert.fail()
    assert.equal(tree.origin, `cartorio/${vault.vaultId}/${tree.epoch}`)
    assert.ok(tree.epoch > 1)
    // What was signed last is in the statement, so that witnesses know of the loss.
    assert.match(tree.epochs[0] ?? '', /\n300 \S{44}\n250 \S{44}\n/)
    const signed = openCheckpoint(tree, tree.checkpoint) ?? assert.fail()
    assert.equal(signed.size, 271)
    const verifier = new LogVerifier([signed])
    for (const record of await store.reader.listRecords(0, 1000)) {
      verifier.add(parseRecord(record) ?? assert.fail(), record)
    }
    assert.deepEqual([verifier.chainFault, verifier.findTreeFault()], [undefined, undefined])
  } finally {
    await store.close()
  }
  await (await openVaultStore(vault, { clock: systemClock, checkPages: true })).close()
})
