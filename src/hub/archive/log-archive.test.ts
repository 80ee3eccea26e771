import assert from 'node:assert/strict'
import { promises } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  AGENT,
  type ArchivedVault,
  daysBefore,
  openArchivedVault,
} from '../../../test/support/archived-vault.ts'
import type { AdminRequest } from '../../protocol/admin/operations.ts'
import { listEntries } from '../service/admin/list-entries.ts'
import { newAgent } from '../../../test/store/store-samples.ts'
import { parseRecord } from '../../audit/record.ts'
import { decideArchivableUntil } from '../domain/log-archive.ts'
import { readRootAt } from '../service/read-log-nodes.ts'
import type { StoreReader } from '../store/store.ts'

const OLD = 3000
const YOUNG = 1100
const ASKER = { actor: 'admin', role: 'admin' } as const

describe('an archive of the log', () => {
  let vault: ArchivedVault
  beforeEach(async () => {
    vault = await openArchivedVault()
    await vault.append(1500, 90)
    await vault.append(OLD - 1500, 60)
    await vault.append(YOUNG, 1)
    await vault.sign()
  })
  afterEach(() => vault[Symbol.asyncDispose]())

  const readAll = async (reader: StoreReader): Promise<unknown> => ({
    records: await reader.listRecords(0, OLD + YOUNG + 1),
    some: await reader.listRecords(1490, 300),
    entries: await reader.listEntries({ afterSeq: 200, beforeSeq: 1700, limit: 1400 }),
    ofType: await reader.listEntries({ afterSeq: 3, limit: 500, eventType: 'type_3' }),
    last: await reader.listLastEntries({ beforeSeq: 1600 }, 700),
    lastAfter: await reader.listLastEntries({ afterSeq: 1000, beforeSeq: 1600 }, 700),
    found: await reader.findEntries([4000, 7, 1537, 1536, 99_999]),
    since: await Promise.all(
      [
        daysBefore(99),
        daysBefore(90),
        new Date(daysBefore(90).getTime() + 777),
        daysBefore(70),
        daysBefore(60),
        daysBefore(2),
      ].map((at) => reader.findFirstSeqSince(at)),
    ),
    roots: await Promise.all(
      [1, 255, 1000, 1536, 2047, 2900].map((size) => readRootAt(reader, size)),
    ),
  })
  const seqsInVault = async (): Promise<[number, number]> => {
    const first = await vault.store.reader.findFirstSeq()
    const end = await vault.store.reader.findChainEnd()
    return [first ?? 0, end?.seq ?? 0]
  }

  test('[ARC-1] [ARC-2] [ARC-8] old entries leave the vault in segments, and everything reads as before', async () => {
    const { reader } = vault.store
    const before = await readAll(reader)
    assert.equal(await vault.archiveBefore(70), 2)
    // Of 1,500 entries as many as are whole blocks; the act itself is the last entry.
    assert.deepEqual(await seqsInVault(), [1281, OLD + YOUNG + 1])
    await vault.archiveBefore(31)
    assert.deepEqual(await seqsInVault(), [2817, OLD + YOUNG + 2])
    const { records, ...rest } = (await readAll(reader)) as { records: string[] }
    const { records: earlier, ...restBefore } = before as { records: string[] }
    assert.deepEqual(rest, restBefore)
    assert.deepEqual(records.slice(0, OLD + YOUNG), earlier)
    const act = parseRecord(records.at(-1) ?? '')
    assert.equal(act?.eventType, 'log_archived')
    const [first, second, ...more] = await reader.listSegments(0, 10)
    assert.deepEqual(
      [first?.first, first?.last, second?.first, second?.last, more],
      [1, 1280, 1281, 2816, []],
    )
    const names = (await readdir(vault.archive)).sort()
    assert.deepEqual(names, [first?.file, second?.file])
    assert.match(
      names[0] ?? '',
      /^[0-9a-f-]{36}-000000000001-000000001280-[0-9a-f]{8}\.svcsegment$/,
    )
    // Nothing of it can be read without the vault.
    const bytes = await readFile(join(vault.archive, names[0] ?? ''))
    assert.equal(bytes.includes('web-1'), false)
    assert.equal(bytes.includes('type_3'), false)
    // What was found by it is gone with it.
    const acts = await reader.listEntrySeqs(
      { by: 'subject', value: 'web-1' },
      { afterSeq: 0, isNewestFirst: false, limit: 1 },
    )
    assert.deepEqual(acts, [2820])
  })

  test('[ARC-8] [API-60] [CHN-41] a list with a filter finds in segments what an index found in the vault', async () => {
    const { store } = vault
    const agent = { ...newAgent('web-7'), id: AGENT }
    await store.write((writer) => writer.insertAgent(agent))
    const between = { after: 100, before: 2600 }
    const requests: readonly AdminRequest<'listEntries'>[] = [
      { tipo: 'type_3', limit: 500 },
      { tipos: ['type_2', 'agent_removed'], ...between },
      { agente: AGENT, last: 500 },
      { about: AGENT, limit: 500 },
      { about: AGENT, last: 400, before: 2900 },
      { about: 'web-1', limit: 500 },
      { about: 'web-1', actor: 'admin', ...between },
      { actor: 'admin', tipo: 'type_1', last: 300 },
      { actor: 'hub', last: 300, ...between },
      { tipo: 'carga_created', limit: 500 },
      { routine: false, limit: 500, after: 20 },
      { routine: false, last: 500, before: 2900 },
      { actor: 'admin', routine: false, limit: 500, ...between },
      { about: 'web-1', routine: false, ...between },
    ]
    const listAll = async (): Promise<unknown[]> => {
      const lists = []
      for (const request of requests) {
        const { eventos } = await listEntries(store.reader, request, ASKER)
        assert.ok(eventos.length > 30, JSON.stringify(request))
        lists.push([request, eventos.map(({ seq }) => seq)])
      }
      return lists
    }
    const before = await listAll()
    await vault.archiveBefore(70)
    await vault.archiveBefore(31)
    assert.deepEqual(await listAll(), before)
    const oldest = { afterSeq: 0, isNewestFirst: false, limit: 1 }
    const [notable = 0] = await store.reader.listEntrySeqs({ by: 'notable' }, oldest)
    assert.ok(notable >= ((await store.reader.findFirstSeq()) ?? 0))
    const [first] = await store.reader.listSegments(0, 1)
    await rm(join(vault.archive, first?.file ?? ''))
    const range = { first: 1, last: 1280, file: first?.file }
    for (const request of [
      { tipo: 'type_3', limit: 500 },
      { tipo: 'type_3', last: 500 },
    ]) {
      const { eventos, missing } = await listEntries(store.reader, request, ASKER)
      assert.deepEqual(missing, [range])
      assert.ok((eventos[0]?.seq ?? 0) > 1280)
    }
  })

  test('[ARC-1] what is younger than 30 days stays, and nothing else is ever removed', async () => {
    await vault.archiveBefore(0)
    assert.deepEqual(await seqsInVault(), [2817, OLD + YOUNG + 1])
    const removed = await vault.store.write((writer) => writer.removeArchived(1000))
    assert.equal(removed, 0)
  })

  test('[ARC-7] a segment that is gone, or damaged, is named with what it has, and the rest can be read', async () => {
    await vault.archiveBefore(70)
    await vault.archiveBefore(31)
    const { reader } = vault.store
    const [first] = await reader.listSegments(0, 1)
    const path = join(vault.archive, first?.file ?? '')
    await rename(path, `${path}.away`)
    const range = { first: 1, last: 1280, file: first?.file }
    await assert.rejects(reader.listRecords(10, 10), {
      code: 'segment_missing',
      message: `${path} cannot be read (ENOENT): it has the entries 1 to 1280 of the audit log`,
      range,
    })
    assert.equal((await reader.listRecords(1280, 10)).length, 10)
    assert.equal(await reader.findFirstSeqSince(daysBefore(99)), 1)
    const bytes = await readFile(`${path}.away`)
    for (const at of [3, 50, bytes.length >> 1, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      await writeFile(path, changed)
      const reading = reader.listRecords(0, 1280)
      await assert.rejects(reading, {
        code: at === 3 ? 'segment_unknown' : 'segment_damaged',
        range,
      })
    }
    for (const cut of [
      bytes.subarray(0, -1),
      bytes.subarray(0, 100),
      Buffer.concat([bytes, bytes]),
    ]) {
      await writeFile(path, cut)
      await assert.rejects(reader.listRecords(0, 1280), { code: 'segment_damaged', range })
    }
    await rename(`${path}.away`, path)
    assert.equal((await reader.listRecords(0, 1280)).length, 1280)
  })

  test('[ARC-2] [ARC-6] a slow hub takes nothing from the segment that another hub has written meanwhile', async () => {
    const { reader } = vault.store
    const before = await readAll(reader)
    let goOn: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let isHeld: () => void = () => undefined
    const reached = new Promise<void>((resolve) => {
      isHeld = resolve
    })
    const slow = vault.archiverOfAnother(() => {
      isHeld()
      return held
    })
    const slowly = slow.step(daysBefore(70), 'admin')
    await reached
    // Then its head has other hashes, and another length.
    await vault.append(3000, 0)
    await vault.sign()
    await vault.archiveBefore(70)
    goOn()
    const { archivedUntil, removedUntil } = await slowly
    assert.deepEqual([archivedUntil, removedUntil], [1280, 1280])
    const [segment, ...more] = await reader.listSegments(0, 10)
    assert.deepEqual([segment?.last, more], [1280, []])
    assert.deepEqual(await readdir(vault.archive), [segment?.file])
    const { records, ...rest } = (await readAll(reader)) as { records: string[] }
    const { records: earlier, ...restBefore } = before as { records: string[] }
    assert.deepEqual(rest, restBefore)
    assert.deepEqual(records.slice(0, OLD + YOUNG), earlier.slice(0, OLD + YOUNG))
  })

  test('[ARC-6] two hubs that archive at once end with what one of them would have', async () => {
    const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    const hubs = [vault.archiverOfAnother(pause), vault.archiverOfAnother(pause)]
    for (let steps = 0; steps < 4; steps += 1) {
      await Promise.all(hubs.map((hub) => hub.step(daysBefore(31), 'admin')))
    }
    const [segment, ...more] = await vault.store.reader.listSegments(0, 10)
    assert.deepEqual([segment?.first, segment?.last, more], [1, 2816, []])
    assert.deepEqual(await readdir(vault.archive), [segment?.file])
    assert.deepEqual(await seqsInVault(), [2817, OLD + YOUNG + 1])
    const records = await vault.store.reader.listRecords(0, OLD)
    assert.equal(records.length, OLD)
  })

  test('[ARC-2] a file that is no segment of this log keeps the name that it has', async () => {
    const vaultId = '00000000-0000-4000-8000-00000000000a'
    await using named = await openArchivedVault(vaultId)
    await named.append(300, 90)
    await named.append(YOUNG, 1)
    await named.sign()
    const { reader } = named.store
    const [last] = await reader.findEntries([256])
    const name = `${vaultId}-000000000001-000000000256-${last?.hash.slice(0, 8)}`
    const path = join(named.archive, `${name}.svcsegment`)
    await writeFile(path, 'of a vault that was restored')
    await named.archiveBefore(70)
    assert.equal(await readFile(path, 'utf8'), 'of a vault that was restored')
    const [segment, ...more] = await reader.listSegments(0, 10)
    assert.deepEqual([segment?.last, more], [256, []])
    assert.match(segment?.file ?? '', new RegExp(`^${name}-[0-9a-f]{8}\\.svcsegment$`))
    assert.equal(await reader.findFirstSeq(), 257)
    assert.equal((await reader.listRecords(0, 256)).length, 256)
  })

  test('[ARC-6] entries whose segment is gone again are not removed', async () => {
    await vault.archiver.step(daysBefore(70), 'admin')
    for (const name of await readdir(vault.archive)) await rm(join(vault.archive, name))
    await assert.rejects(vault.archiver.step(daysBefore(70), 'admin'), { code: 'segment_missing' })
    assert.equal((await seqsInVault())[0], 1)
    assert.equal((await vault.store.reader.listRecords(0, 1280)).length, 1280)
  })

  test('[ARC-5] a log that is not as it was signed stays in the vault', async () => {
    const { reader } = vault.store
    const listRecords = reader.listRecords.bind(reader)
    reader.listRecords = async (after, limit) =>
      (await listRecords(after, limit)).map((record) =>
        parseRecord(record)?.seq === 300 ? record.replace('cert_renewed', 'cert_removed') : record,
      )
    await assert.rejects(vault.archiver.step(daysBefore(70), 'admin'), {
      code: 'log_not_as_signed',
      message:
        'the audit log is not as it was signed: the entries 1 to 1280 are not those that a checkpoint was signed for',
    })
    assert.equal(await reader.findLastSegment(), undefined)
  })
})

for (const [fault, left, pointsMin] of [
  ['error', 'kept', { writing: 6, removing: 4 }],
  ['error', 'gone', { writing: 12, removing: 4 }],
  ['crash', 'kept', { writing: 6, removing: 4 }],
  ['crash', 'gone', { writing: 12, removing: 4 }],
] as const) {
  test(`[ARC-6] after ${fault === 'crash' ? 'a crash' : 'an error'} at any operation each entry is in the vault or in a segment, and the next run ends it, with what is left of a segment ${left}`, async () => {
    await using vault = await openArchivedVault()
    await vault.append(600, 60)
    await vault.append(YOUNG, 1)
    await vault.sign()
    const before = await vault.store.reader.listRecords(0, 600 + YOUNG)
    const faults = { writing: 0, removing: 0 }
    let phase: keyof typeof faults = 'writing'
    for (let isDone = false; !isDone;) {
      const point = faults[phase]
      faults[phase] += 1
      isDone = !(await failingAt(vault, point, fault, () => vault.archiveBefore(31)))
      await vault.reopen()
      const after = await vault.store.reader.listRecords(0, 600 + YOUNG)
      assert.deepEqual(after, before)
      if ((await vault.store.reader.findLastSegment()) !== undefined) phase = 'removing'
      else if (left === 'gone') await emptyDirectory(vault.archive)
    }
    const { writing, removing } = pointsMin
    assert.ok(faults.writing >= writing && faults.removing >= removing, JSON.stringify(faults))
    assert.equal(await vault.store.reader.findFirstSeq(), 513)
    assert.equal((await readdir(vault.archive)).length, 1)
  })
}

/**
 * The operation with this number, of files or a commit, fails: before it does anything; or after it, and all after it, as a crash leaves
 * it. Whether there was one.
 */
async function failingAt(
  vault: ArchivedVault,
  point: number,
  fault: 'error' | 'crash',
  work: () => Promise<unknown>,
): Promise<boolean> {
  let count = 0
  let isDown = false
  const faulty =
    (run: Operation): Operation =>
    async (...args) => {
      const isMine = count === point
      count += 1
      if (!isDown && !isMine) return run(...args)
      if (fault === 'crash' && !isDown) await closeIfOpen(await run(...args))
      isDown = fault === 'crash'
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
    }
  const names = ['link', 'lstat', 'readdir', 'stat', 'unlink'] as const
  const real = { open: promises.open, ...pick(promises, names) }
  const openFaulty = faulty(real.open)
  const open: Operation = async (...args) => {
    const file = (await openFaulty(...args)) as Record<'sync' | 'writeFile', Operation>
    for (const name of ['sync', 'writeFile'] as const) file[name] = faulty(file[name].bind(file))
    return file
  }
  const failing = names.map((name) => [name, faulty(real[name] as Operation)])
  const write = vault.store.write.bind(vault.store)
  Object.assign(promises, { open, ...Object.fromEntries(failing) })
  Object.assign(vault.store, { write: faulty(write as Operation) })
  syncBuiltinESMExports()
  try {
    await work()
    return count > point
  } catch {
    return true
  } finally {
    Object.assign(promises, real)
    Object.assign(vault.store, { write })
    syncBuiltinESMExports()
  }
}

async function emptyDirectory(path: string): Promise<void> {
  for (const name of await readdir(path)) await rm(join(path, name))
}

type Operation = (...args: never[]) => Promise<unknown>

function pick<T extends object, Name extends keyof T>(from: T, names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>
}

async function closeIfOpen(opened: unknown): Promise<void> {
  if (typeof opened === 'object' && opened !== null && 'close' in opened) {
    await (opened as { close(): Promise<void> }).close()
  }
}

test('[ARC-1] what may be archived ends with whole blocks before everything that needs an entry', () => {
  const facts = {
    firstAfter: 10_001,
    firstYoung: undefined,
    signed: 20_000,
    lastSeq: 20_000,
    webhookSeq: undefined,
  }
  assert.equal(decideArchivableUntil(facts), 9984)
  assert.equal(decideArchivableUntil({ ...facts, firstAfter: undefined }), 18_944)
  assert.equal(decideArchivableUntil({ ...facts, firstYoung: 5001 }), 4864)
  assert.equal(decideArchivableUntil({ ...facts, signed: 300 }), 256)
  assert.equal(decideArchivableUntil({ ...facts, webhookSeq: 511 }), 256)
  assert.equal(decideArchivableUntil({ ...facts, lastSeq: 900 }), 0)
})
