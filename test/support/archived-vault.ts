// A store with a long old log and a young one, signed, and what tests of the archive do with it.

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chainEntries } from '../../src/audit/chain-entries.ts'
import { createLogArchiver } from '../../src/hub/archive/log-archive.ts'
import { withArchive } from '../../src/hub/archive/archived-reader.ts'
import type { LogArchiver } from '../../src/hub/domain/log-archive.ts'
import { growLogTree, newLogTree } from '../../src/hub/service/log-tree.ts'
import { openSqliteStore } from '../../src/hub/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AgentId, EntryId } from '../../src/protocol/identifiers.ts'

export const ARCHIVE_NOW: Date = new Date('2026-11-23T12:00:00Z')
const DAY_MS = 86_400_000
export const AGENT = '00000000-0000-4000-8000-000000000001' as AgentId

export interface ArchivedVault extends AsyncDisposable {
  readonly directory: string
  readonly archive: string
  /** Reads through the segments. */
  readonly store: Store
  readonly archiver: LogArchiver
  /** Of another hub that shares vault and directory; what it waits for is the test's to end. */
  archiverOfAnother(pause: () => Promise<void>): LogArchiver
  /** Appends entries of that many days ago: acts and events, with all kinds of columns. */
  append(count: number, daysAgo: number): Promise<void>
  /** Signs a tree over all entries. */
  sign(): Promise<void>
  /** Until it is done; how many steps it took. */
  archiveBefore(daysAgo: number): Promise<number>
  /** The same store once more, as after a crash. */
  reopen(): Promise<void>
}

export function daysBefore(daysAgo: number): Date {
  return new Date(ARCHIVE_NOW.getTime() - daysAgo * DAY_MS)
}

export async function openArchivedVault(vaultId: string = randomUUID()): Promise<ArchivedVault> {
  const directory = await mkdtemp(join(tmpdir(), 'archive-'))
  const archive = join(directory, 'segments')
  await mkdir(archive)
  const dataKey = new Secret(randomBytes(32))
  const path = join(directory, 'db.enc')
  const clock = { now: () => ARCHIVE_NOW, sleep: () => Promise.resolve() }
  let inner = await openSqliteStore({ path, dataKey, createIfMissing: true })
  let reader = withArchive(inner.reader, archive)
  const store: Store = {
    get reader() {
      return reader
    },
    get version() {
      return inner.version
    },
    versionOf: (id) => inner.versionOf(id),
    write: (work, company) => inner.write(work, company),
    close: () => inner.close(),
  }
  const archiverOfAnother = (pause: () => Promise<void>): LogArchiver =>
    createLogArchiver({
      store,
      vaultId,
      dataKey,
      directory: archive,
      clock: { ...clock, sleep: pause },
    })
  const archiver = archiverOfAnother(clock.sleep)
  return {
    directory,
    archive,
    store,
    archiver,
    archiverOfAnother,
    append: async (count, daysAgo) => {
      const entries = Array.from({ length: count }, (_, index) => ({
        id: randomUUID() as EntryId,
        ...contentOf(index),
        at: new Date(daysBefore(daysAgo).getTime() + index),
      }))
      await store.write(async (writer) =>
        writer.insertEntries(chainEntries(await writer.findChainEnd(), entries)),
      )
    },
    sign: async () => {
      const before = (await store.reader.findLogTree()) ?? newLogTree(vaultId)
      const records = await inner.reader.listRecords(before.frontier.size, 100_000)
      const { tree, filled } = growLogTree(before, records)
      await store.write((writer) => writer.putLogTree(tree, filled))
    },
    archiveBefore: async (daysAgo) => {
      for (let steps = 1; steps < 100; steps += 1) {
        const { isDone } = await archiver.step(daysBefore(daysAgo), 'admin')
        if (isDone) return steps
      }
      throw new Error('archiving never ends')
    },
    reopen: async () => {
      await inner.close()
      inner = await openSqliteStore({ path, dataKey })
      reader = withArchive(inner.reader, archive)
    },
    [Symbol.asyncDispose]: async () => {
      await inner.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** Events of an agent, and acts that are about hosts, agents and cargas. */
function contentOf(index: number) {
  const act = { actor: index % 3 === 0 ? 'admin' : 'hub', hostname: 'web-1', index }
  const text = 'é'.repeat(9)
  const base = { deliveryId: null, requestId: null, agentId: null }
  if (index % 2 === 0) {
    const payloadText = JSON.stringify({ actor: 'admin', hostname: 'web-1', text })
    const requestId = randomUUID() as string
    return { ...base, agentId: AGENT, eventType: typeOf(index), payloadText, requestId }
  }
  if (index % 20 === 13) {
    const payloadText = JSON.stringify({ ...act, agente_id: AGENT })
    return { ...base, eventType: 'agent_removed', payloadText }
  }
  if (index % 20 === 17) {
    const payloadText = JSON.stringify({ ...act, carga_id: 'c', agente_id: AGENT })
    return { ...base, eventType: 'carga_created', payloadText }
  }
  const payloadText = index % 20 === 15 ? 'tampered with' : JSON.stringify({ ...act, text })
  return { ...base, eventType: typeOf(index), payloadText }
}

/** A fifth of them is routine. */
function typeOf(index: number): string {
  return index % 5 === 4 ? 'cert_renewed' : `type_${index % 5}`
}
