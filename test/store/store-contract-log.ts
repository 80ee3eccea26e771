import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { LogSegment } from '../../src/hub/domain/log-segment.ts'
import { Secret } from '../../src/platform/secret.ts'
import { formatRecord } from '../../src/audit/record.ts'
import { growLogTree, newLogTree } from '../../src/hub/service/log-tree.ts'
import { ChainVerifier, formatTimestamp, GENESIS_HASH } from '../../src/audit/hash-chain.ts'
import type { AgentId, DeliveryId, EntryId } from '../../src/protocol/identifiers.ts'
import type { EntryFilter, Store, StoreReader } from '../../src/hub/store/store.ts'
import { append, insertAgent, insertCargo, insertDelivery, LATER, NOW } from './store-samples.ts'

export function sampleSegment(first: number, last: number): LogSegment {
  const zeros = '0'.repeat(64)
  const at = formatTimestamp(NOW)
  const times = { firstTimestamp: at, lastTimestamp: at, createdAt: NOW }
  return { first, last, ...times, previousHash: zeros, hash: zeros, file: `${last}`, bytes: 1 }
}

const ALL = { afterSeq: 0, limit: 1000 }

export function testAuditLog(store: () => Store): void {
  test('entries form a chain from the genesis hash', async () => {
    assert.equal(await store().reader.findChainEnd(), undefined)
    for (let count = 0; count < 5; count += 1) await append(store(), {})
    const entries = await store().reader.listEntries(ALL)
    const verifier = new ChainVerifier()
    for (const entry of entries) verifier.add(entry)
    assert.equal(verifier.fault, undefined)
    assert.equal(verifier.count, 5)
    assert.equal(entries[0]?.previousHash, GENESIS_HASH)
    const { seq, timestamp, hash } = entries[4] ?? assert.fail('five were appended')
    assert.deepEqual(await store().reader.findChainEnd(), { seq, timestamp, hash })
  })

  test('an entry keeps what it was given, byte for byte', async () => {
    const agentId = randomUUID() as AgentId
    const deliveryId = randomUUID() as DeliveryId
    const payloadText = '{"b":1, "a":"é\\u0000\u{1f600}"}'
    const content = { agentId, deliveryId, payloadText, requestId: 'r', eventType: 't' }
    const entry = await append(store(), content)
    assert.deepEqual(await store().reader.listEntries(ALL), [entry])
    assert.deepEqual({ ...entry, ...content }, entry)
    assert.equal(entry.timestamp, '2026-11-21T10:00:00.123000Z')
  })

  test('a request id is unique for its agent, and finds its entry', async () => {
    const agentId = randomUUID() as AgentId
    const other = randomUUID() as AgentId
    const entry = await append(store(), { agentId, requestId: 'r-1' })
    await append(store(), { agentId: other, requestId: 'r-1' })
    await append(store(), { agentId })
    await append(store(), { agentId })
    await assert.rejects(append(store(), { agentId, requestId: 'r-1' }), { code: 'store_conflict' })
    assert.deepEqual(await store().reader.findEntryByRequestId(agentId, 'r-1'), entry)
    assert.equal(await store().reader.findEntryByRequestId(agentId, 'r-2'), undefined)
  })

  test('[CHN-1] an entry has its number to itself', async () => {
    const entry = await append(store(), {})
    const again = { ...entry, id: randomUUID() as EntryId }
    const written = store().write((writer) => writer.insertEntries([again]))
    await assert.rejects(written, { code: 'store_conflict' })
    assert.deepEqual(await store().reader.listEntries(ALL), [entry])
  })

  test('entries are paged, and selected by type', async () => {
    const agentId = randomUUID() as AgentId
    await append(store(), { eventType: 'x' })
    await append(store(), { eventType: 'y', agentId })
    await append(store(), { eventType: 'x', agentId, at: LATER })
    await append(store(), { eventType: 'y', at: LATER })
    await append(store(), { eventType: 'x', agentId, at: LATER })
    const cases: readonly [Partial<EntryFilter>, number[]][] = [
      [{}, [1, 2, 3, 4, 5]],
      [{ afterSeq: 2, limit: 2 }, [3, 4]],
      [{ limit: 0 }, []],
      [{ beforeSeq: 3 }, [1, 2]],
      [{ eventType: 'y' }, [2, 4]],
      [{ eventType: 'x', afterSeq: 1, beforeSeq: 5 }, [3]],
    ]
    for (const [filter, expected] of cases) {
      const entries = await store().reader.listEntries({ ...ALL, ...filter })
      assert.deepEqual(
        entries.map((entry) => entry.seq),
        expected,
        JSON.stringify(filter),
      )
    }
    const seqsOfLast = async (...asked: Parameters<StoreReader['listLastEntries']>) =>
      (await store().reader.listLastEntries(...asked)).map((entry) => entry.seq)
    assert.deepEqual(await seqsOfLast({ eventType: 'x' }, 2), [3, 5])
    assert.deepEqual(await seqsOfLast({ beforeSeq: 4 }, 2), [2, 3])
    assert.deepEqual(await seqsOfLast({ afterSeq: 4 }, 2), [5])

    const { reader } = store()
    assert.equal(await reader.findFirstSeqSince(LATER), 3)
    assert.equal(await reader.findFirstSeqSince(new Date(LATER.getTime() + 1)), undefined)
    const range = { afterSeq: 0, isNewestFirst: true, limit: 2 }
    assert.deepEqual(await reader.listEntrySeqs({ by: 'sender', value: agentId }, range), [5, 3])
    const first = { afterSeq: 1, beforeSeq: 5, isNewestFirst: false, limit: 9 }
    assert.deepEqual(await reader.listEntrySeqs({ by: 'type', value: 'x' }, first), [3])
    const found = await reader.findEntries([4, 2, 77])
    assert.deepEqual(
      found.map((entry) => entry.seq),
      [4, 2],
    )
  })

  test('[CHN-10] an act is found by its actor, and by the agent, host or carga that it is about', async () => {
    const act = (eventType: string, payload: object, deliveryId: DeliveryId | null = null) =>
      append(store(), { eventType, payloadText: JSON.stringify(payload), deliveryId })
    const agent = await insertAgent(store(), 'web-1')
    const cargo = await insertCargo(store(), 'site')
    const delivery = await insertDelivery(store(), agent.id, cargo)
    const host = { agente_id: agent.id, hostname: 'web-1' }
    await act('token_created', { actor: 'token:ci', hostname: 'web-1' })
    await act('agent_enrolled', { actor: 'hub', ...host })
    await act('certificate_issued', { actor: 'hub', ...host })
    await act('carga_created', { actor: 'admin', carga_id: cargo.id, agentes: ['web-1'] })
    await act('entrega_cancelled', { actor: 'admin', carga_id: cargo.id }, delivery.id)
    await act('carga_removed', { actor: 'admin', carga_id: cargo.id })
    await append(store(), { payloadText: 'tampered with' })
    await append(store(), { agentId: agent.id, payloadText: '{"actor":"admin"}' })
    await act('carga_selected', { actor: 'token:ci', carga_id: cargo.id, where: null })
    const seqsAbout = (value: string) =>
      store().reader.listEntrySeqs({ by: 'subject', value }, { ...ALL, isNewestFirst: false })
    assert.deepEqual(await seqsAbout(agent.id), [2, 3, 5])
    assert.deepEqual(await seqsAbout('web-1'), [1, 2])
    assert.deepEqual(await seqsAbout(cargo.id), [4, 6, 9])
    assert.deepEqual(await seqsAbout('ator:admin'), [4, 5, 6])
    assert.deepEqual(await store().reader.listActors(9), ['admin', 'hub', 'token:ci'])
    assert.deepEqual(await store().reader.listActors(2), ['admin', 'hub'])
    assert.deepEqual(await seqsAbout('ator:token:ci'), [1, 9])
    assert.equal(await store().reader.findIndexedFrom(), 1)
    assert.equal(await store().write((writer) => writer.indexOlderActs(10)), false)
  })

  test('[CHN-12] a record has every column of its entry, whatever is in it', async () => {
    const agentId = randomUUID() as AgentId
    const deliveryId = randomUUID() as DeliveryId
    await append(store(), { payloadText: '{"a":"é\\u0000\u{1f600}"}', eventType: 'ç,:' })
    await append(store(), { agentId, deliveryId, requestId: 'r-é', eventType: 'x' })
    const entries = await store().reader.listEntries(ALL)
    assert.deepEqual(await store().reader.listRecords(0, 10), entries.map(formatRecord))
    assert.deepEqual(await store().reader.listRecords(1, 10), entries.slice(1).map(formatRecord))
    assert.equal((await store().reader.listRecords(0, 1)).length, 1)
  })

  test('[CHN-16] the tree over the log is kept with its large subtrees, and is no news to agents', async () => {
    assert.equal(await store().reader.findLogTree(), undefined)
    const { version } = store()
    const records = Array.from({ length: 600 }, (_, index) => `record ${index}`)
    const { tree, filled } = growLogTree(newLogTree('vault'), records)
    assert.deepEqual(
      filled.map(({ level, index }) => [level, index]),
      [
        [8, 0],
        [8, 1],
        [9, 0],
      ],
    )
    await store().write((writer) => writer.putLogTree(tree, filled))
    assert.deepEqual(await store().reader.findLogTree(), tree)
    const hashes = await store().reader.listLogNodes([filled[2]!, filled[0]!])
    assert.deepEqual(hashes, [filled[2]?.hash, filled[0]?.hash])
    assert.equal(store().version, version)
  })

  test('[ARC-5] [ARC-6] only entries of a recorded segment are removed, and segments follow one another', async () => {
    const { reader } = store()
    const write: Store['write'] = (work) => store().write(work)
    assert.deepEqual(
      [await reader.findFirstSeq(), await reader.findLastSegment()],
      [undefined, undefined],
    )
    for (let count = 0; count < 3; count += 1)
      await append(store(), { payloadText: '{"actor":"x"}' })
    assert.equal(await write((writer) => writer.removeArchived(10)), 0)
    const segment = sampleSegment(1, 256)
    await write((writer) => writer.insertSegment(segment))
    for (const [first, last] of [
      [256, 512],
      [300, 512],
      [1, 256],
      [257, 300],
    ] as const) {
      const wrong = sampleSegment(first, last)
      await assert.rejects(write((writer) => writer.insertSegment(wrong)))
    }
    const next = { ...sampleSegment(257, 512), lastTimestamp: formatTimestamp(LATER) }
    await write((writer) => writer.insertSegment(next))
    assert.deepEqual(await reader.listSegments(0, 10), [segment, next])
    assert.deepEqual(await reader.listSegments(256, 10), [next])
    assert.deepEqual(await reader.findLastSegment(), next)
    assert.deepEqual(await reader.findSegment(256), segment)
    assert.deepEqual(await reader.findSegment(257), next)
    assert.equal(await reader.findSegment(513), undefined)
    assert.deepEqual(await reader.findSegmentSince(LATER), next)
    assert.equal(await reader.findSegmentSince(new Date(LATER.getTime() + 1)), undefined)
    assert.equal(await write((writer) => writer.removeArchived(2)), 2)
    assert.equal(await reader.findFirstSeq(), 3)
    const acts = { by: 'subject', value: 'ator:x' } as const
    assert.deepEqual(await reader.listEntrySeqs(acts, { ...ALL, isNewestFirst: false }), [3])
    assert.equal(await reader.findArchiveKey(), undefined)
    await write((writer) => writer.insertArchiveKey(new Secret(Buffer.alloc(32, 1))))
    assert.deepEqual((await reader.findArchiveKey())?.reveal(), Buffer.alloc(32, 1))
  })

  test('[KEY-5] the generation of the vault’s keys is 0 at first, and then what was set', async () => {
    assert.equal(await store().reader.findKeysGeneration(), 0)
    await store().write((writer) => writer.setKeysGeneration(3))
    assert.equal(await store().reader.findKeysGeneration(), 3)
  })

  test('[EVD-15] the store keeps the last certificates of the hub that the log names', async () => {
    const [first = '', ...others] = Array.from({ length: 30 }, (_, at) =>
      String(at).padEnd(64, 'a'),
    )
    const isKept = (sha256: string): Promise<boolean> => store().reader.isOwnCertificate(sha256)
    assert.equal(await isKept(first), false)
    const insert = (sha256: string): Promise<void> =>
      store().write((writer) => writer.insertOwnCertificate(sha256))
    await insert(first)
    await insert(first)
    assert.equal(await isKept(first), true)
    for (const sha256 of others) await insert(sha256)
    assert.deepEqual(await Promise.all([first, ...others.slice(-20)].map(isKept)), [
      false,
      ...others.slice(-20).map(() => true),
    ])
  })

  test('[EVD-16] a request to the CA is there until it is deleted', async () => {
    const asked = {
      id: 'one',
      askedAt: NOW,
      hubId: null,
      tokenHash: null,
      joinRuleId: null,
      request: 'enrollment',
      agentId: null,
      hostname: 'web.example',
      names: ['web.example', 'é'],
      csrSha256: '1'.repeat(64),
      keySha256: '2'.repeat(64),
    } as const
    await store().write(async (writer) => {
      await writer.insertOpenSigning(asked)
      await writer.insertOpenSigning({ ...asked, id: 'two' })
    })
    assert.deepEqual(await store().reader.listOpenSignings(1), [asked])
    const { version } = store()
    assert.equal(await store().write((writer) => writer.deleteOpenSigning('one')), true)
    assert.equal(await store().write((writer) => writer.deleteOpenSigning('one')), false)
    assert.deepEqual(await store().reader.listOpenSignings(5), [{ ...asked, id: 'two' }])
    assert.equal(store().version, version)
  })

  test('[BKP-16] the store keeps when the vault was restored last', async () => {
    assert.equal(await store().reader.findLastRestore(), undefined)
    for (const at of [NOW, LATER]) {
      await store().write((writer) => writer.setLastRestore({ at, backupAt: NOW }))
      assert.deepEqual(await store().reader.findLastRestore(), { at, backupAt: NOW })
    }
  })
}
