import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { Secret } from '../../../platform/secret.ts'
import type { AgentId, EntryId } from '../../../protocol/identifiers.ts'
import type { AuditEntry, NewAuditEntry } from '../../domain/audit-entry.ts'
import { appendEntry } from '../../service/append-entries.ts'
import { describeStoreContract } from '../../../../test/store/store-contract.ts'
import { sampleSegment } from '../../../../test/store/store-contract-log.ts'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'

const CANARY = 'canary-7f3a-that-must-never-be-on-the-disk'
const dataKey = new Secret(randomBytes(32))
const contractDirectory = await mkdtemp(join(tmpdir(), 'store-'))
after(() => rm(contractDirectory, { recursive: true }))

describeStoreContract('the encrypted SQLite database', () =>
  openSqliteStore({
    path: join(contractDirectory, `${randomUUID()}.enc`),
    dataKey,
    createIfMissing: true,
  }),
)

describe('the encrypted SQLite database', () => {
  let directory: string
  let path: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'store-'))
    path = join(directory, 'db.enc')
  })
  afterEach(() => rm(directory, { recursive: true }))

  test('[RES-8] concurrent writes share one commit', async () => {
    await using store = disposing(await open())
    const before = store.commits
    await Promise.all(Array.from({ length: 32 }, () => append(store)))
    assert.equal(store.commits - before, 1)
    await Promise.all(Array.from({ length: 300 }, () => append(store)))
    assert.equal(store.commits - before, 3)
  })

  test('what was written is there after closing and opening again', async () => {
    const first = await open()
    const entry = await append(first)
    await first.close()
    assert.deepEqual(await readdir(directory), ['db.enc'])
    await using second = disposing(await open())
    const { seq, timestamp, hash } = entry
    assert.deepEqual(await second.reader.findChainEnd(), { seq, timestamp, hash })
    assert.equal((await append(second)).previousHash, entry.hash)
  })

  test('[ARC-6] what was removed by four writes is in the file, and not in the write-ahead log alone', async () => {
    await using store = disposing(await open())
    for (let count = 0; count < 6; count += 1) await append(store)
    await store.write((writer) => writer.insertSegment(sampleSegment(1, 256)))
    for (let count = 0; count < 4; count += 1) {
      const inPassing = { isExpected: () => false, isInPassing: true } as const
      await store.write((writer) => writer.removeArchived(1), inPassing)
    }
    await store.write(async () => undefined)
    const fileAlone = join(directory, 'alone.enc')
    await copyFile(path, fileAlone)
    await using alone = disposing(await openSqliteStore({ path: fileAlone, dataKey }))
    assert.equal(await alone.reader.findFirstSeq(), 5)
  })

  test('its files are readable by their owner only', async () => {
    await using store = disposing(await open())
    await append(store)
    const names = await readdir(directory)
    assert.deepEqual(names.sort(), ['db.enc', 'db.enc-shm', 'db.enc-wal'])
    for (const name of names) {
      assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600, name)
    }
  })

  test('[VLT-2] [VLT-4] no plaintext reaches the disk, while it is open, after kill -9, and when closed', async () => {
    const store = await open()
    await append(store, { payloadText: JSON.stringify({ canary: CANARY }) })
    await assertNoPlaintext(directory)
    await store.close()
    await assertNoPlaintext(directory)
    await killWriterAfter(path, 20)
    assert.ok((await readdir(directory)).includes('db.enc-wal'))
    await assertNoPlaintext(directory)
  })

  test('[RES-8] acknowledged writes survive kill -9', async () => {
    await (await open()).close()
    let acknowledged = 0
    for (let round = 1; round <= 3; round += 1) {
      acknowledged = await killWriterAfter(path, acknowledged + 40)
      await using store = disposing(await open())
      const last = await store.reader.findChainEnd()
      assert.ok((last?.seq ?? 0) >= acknowledged, `round ${round}: ${last?.seq}, ${acknowledged}`)
    }
  })

  function open(): Promise<SqliteStore> {
    return openSqliteStore({ path, dataKey, createIfMissing: true })
  }
})

function disposing(store: SqliteStore): SqliteStore & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}

function append(store: SqliteStore, content: Partial<NewAuditEntry> = {}): Promise<AuditEntry> {
  const entry: NewAuditEntry = {
    id: randomUUID() as EntryId,
    agentId: randomUUID() as AgentId,
    eventType: 'agent_started',
    payloadText: '{}',
    deliveryId: null,
    requestId: randomUUID(),
    at: new Date('2026-11-21T10:00:00Z'),
    ...content,
  }
  return store.write((writer) => appendEntry(writer, entry))
}

async function assertNoPlaintext(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const content = await readFile(join(directory, name))
    for (const text of [CANARY, 'SQLite format 3', 'eventos']) {
      assert.equal(content.includes(text), false, `${text} in ${name}`)
    }
  }
}

/** Another process writes and prints each acknowledged seq; it is killed once it has printed `seqWanted`. */
async function killWriterAfter(path: string, seqWanted: number): Promise<number> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', WRITER_PROGRAM], {
    env: {
      STORE_MODULE: new URL('./sqlite-store.ts', import.meta.url).href,
      APPEND_MODULE: new URL('../../service/append-entries.ts', import.meta.url).href,
      SECRET_MODULE: new URL('../../../platform/secret.ts', import.meta.url).href,
      DATABASE_PATH: path,
      TEST_KEY: dataKey.reveal().toString('hex'),
      CANARY,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let acknowledged = 0
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged = Number(line)
    if (acknowledged >= seqWanted) child.kill('SIGKILL')
  }
  assert.deepEqual(await exited, [null, 'SIGKILL'])
  return acknowledged
}

const WRITER_PROGRAM = `
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
const { openSqliteStore } = await import(process.env.STORE_MODULE)
const { appendEntry } = await import(process.env.APPEND_MODULE)
const { Secret } = await import(process.env.SECRET_MODULE)
const dataKey = new Secret(Buffer.from(process.env.TEST_KEY, 'hex'))
const store = await openSqliteStore({ path: process.env.DATABASE_PATH, dataKey })
const entry = () => ({
  id: randomUUID(), agentId: null, eventType: 't', deliveryId: null, requestId: null,
  payloadText: JSON.stringify({ canary: process.env.CANARY }), at: new Date(),
})
for (;;) {
  const { seq } = await store.write((writer) => appendEntry(writer, entry()))
  writeSync(1, seq + '\\n')
}
`
