import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { append, insertAgent, insertToken, LATER } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import type { RememberedAct } from '../../domain/remembered-act.ts'
import type { Store } from '../../store/store.ts'
import { openSegment } from '../act-segment.ts'
import { recordHubAct } from '../hub-acts.ts'
import { beginEpoch, growLogTree, newLogTree } from '../log-tree.ts'
import { type ActFileName, type ActFiles, createActKeeper, SEGMENT_ACTS_MAX } from './act-keeper.ts'

const AGENT = { agente_id: '11111111-1111-4111-8111-111111111111', hostname: 'web-1' }

let store: Store & AsyncDisposable
let tree: LogTree
let notes: Map<string, string>
let written: number

beforeEach(async () => {
  store = await openTemporaryStore()
  tree = newLogTree('vault')
  notes = new Map()
  written = 0
})
afterEach(() => store[Symbol.asyncDispose]())

const keyOf = ({ epoch, after }: ActFileName): string =>
  `${epoch} ${String(after).padStart(9, '0')}`

/** In memory; `failing` as a directory that is full. */
const files = (failing = false): ActFiles => ({
  list: async () =>
    [...notes.keys()].sort().map((key) => {
      const [epoch, after] = key.split(' ').map(Number)
      return { epoch: epoch ?? 0, after: after ?? 0 }
    }),
  read: async (name) => notes.get(keyOf(name)),
  write: async (name, note) => {
    if (failing) throw new Error('no space left on device')
    written += 1
    notes.set(keyOf(name), note)
  },
  remove: async (name) => void notes.delete(keyOf(name)),
})

async function grow(): Promise<LogTree> {
  const records = await store.reader.listRecords(tree.frontier.size, 100_000)
  tree = growLogTree(tree, records).tree
  return tree
}

const kept = (): readonly RememberedAct[] =>
  [...notes.keys()]
    .sort()
    .flatMap((key) => (openSegment(notes.get(key) ?? '', tree) ?? assert.fail('signed')).acts)

function revoke(hostname: string): Promise<void> {
  const payload = {
    actor: 'admin',
    agente_id: '11111111-1111-4111-8111-111111111111',
    hostname,
    tokens_ended: 0,
  }
  return store.write((writer) => recordHubAct(writer, LATER, 'agent_revoked', payload))
}

describe('[BKP-15] acts that a restore must not forget', () => {
  test('are kept with what does them again, and nothing else is', async () => {
    const { hash } = await insertToken(store)
    await store.write(async (writer) => {
      const token_id = hash.slice(0, 16)
      const agente_id = '11111111-1111-4111-8111-111111111111'
      const host = { agente_id, hostname: 'web-1' }
      await recordHubAct(writer, LATER, 'token_created', { actor: 'admin', token_id })
      const enrolled = { actor: 'token', token_id, ...host, role: 'web', reenroll: false }
      await recordHubAct(writer, LATER, 'agent_enrolled', enrolled)
      await recordHubAct(writer, LATER, 'agent_revoked', { actor: 'admin', ...host })
      await recordHubAct(writer, LATER, 'agent_removed', { actor: 'admin', ...host })
      await recordHubAct(writer, LATER, 'token_revoked', { actor: 'hub', token_id, reason: 'x' })
      await recordHubAct(writer, LATER, 'token_revoked', { actor: 'hub', token_id: 'f'.repeat(16) })
    })
    await createActKeeper(store.reader, files()).keep(await grow())
    const at = '2026-11-21T11:00:00.000000Z'
    const agent = { agente_id: '11111111-1111-4111-8111-111111111111', hostname: 'web-1' }
    assert.deepEqual(kept(), [
      { seq: 2, at, type: 'agent_enrolled', ...agent, role: 'web', token: hash },
      { seq: 3, at, type: 'agent_revoked', ...agent },
      { seq: 4, at, type: 'agent_removed', ...agent },
      { seq: 5, at, type: 'token_revoked', token: hash },
    ])
  })

  test('[JNR-4] [JNR-6] name the join rule of a host, and a rule that ended', async () => {
    const { hash } = await insertToken(store)
    const join_rule_id = '0123456789abcdef'
    await store.write(async (writer) => {
      const joined = { ...AGENT, token_id: hash.slice(0, 16), role: 'web', join_rule_id }
      const named = { actor: 'admin', join_rule_id, join_rule: 'image' }
      await recordHubAct(writer, LATER, 'join_rule_created', named)
      await recordHubAct(writer, LATER, 'agent_enrolled', { actor: 'token', ...joined })
      await recordHubAct(writer, LATER, 'join_rule_ended', named)
      const ended = { kind: 'join_rule', action: 'remove', name: 'image', join_rule_id }
      const changes = [{ kind: 'agente', action: 'update', fields: ['env'] }, ended]
      await recordHubAct(writer, LATER, 'fleet_applied', { actor: 'admin', changes })
      await recordHubAct(writer, LATER, 'fleet_applied', { actor: 'admin', changes: [] })
    })
    await createActKeeper(store.reader, files()).keep(await grow())
    const at = '2026-11-21T11:00:00.000000Z'
    const join_rule = join_rule_id
    assert.deepEqual(kept(), [
      { seq: 2, at, type: 'agent_enrolled', ...AGENT, role: 'web', token: hash, join_rule },
      { seq: 3, at, type: 'join_rule_ended', join_rule },
      { seq: 4, at, type: 'fleet_applied', join_rules: [join_rule] },
    ])
  })

  test('are the hub’s own: an agent that sends an event of that name revokes nobody', async () => {
    const agent = await insertAgent(store, 'evil')
    const payloadText = JSON.stringify({ agente_id: agent.id, hostname: 'web-1' })
    await append(store, { agentId: agent.id, eventType: 'agent_revoked', payloadText })
    await createActKeeper(store.reader, files()).keep(await grow())
    assert.deepEqual(kept(), [])
  })

  test('go on where a hub was killed, in files of a bounded size', async () => {
    const count = 3 * SEGMENT_ACTS_MAX + 7
    for (let number = 0; number < count; number += 1) {
      await revoke(`h${number}`)
      // Another hub each time that it is a multiple of 30.
      if (number % 30 === 0) await createActKeeper(store.reader, files()).keep(await grow())
    }
    await createActKeeper(store.reader, files()).keep(await grow())
    assert.deepEqual(
      kept().map((act) => 'hostname' in act && act.hostname),
      Array.from({ length: count }, (_, number) => `h${number}`),
    )
    const segments = [...notes.values()].map((note) => openSegment(note, tree))
    let covered = 0
    for (const segment of segments) {
      assert.equal(segment?.after, covered)
      assert.ok(segment.acts.length <= SEGMENT_ACTS_MAX)
      covered = segment.until
    }
    assert.equal(covered, count)
    assert.equal(segments.length, 4)
  })

  test('are written once for each checkpoint, however many there are, and say up to where they are all', async () => {
    await revoke('h1')
    const keeper = createActKeeper(store.reader, files())
    await keeper.keep(await grow())
    assert.equal(written, 1)
    for (let number = 0; number < 9; number += 1) await append(store, {})
    await keeper.keep(await grow())
    assert.equal(written, 2)
    assert.equal(openSegment([...notes.values()][0] ?? '', tree)?.until, 10)
  })

  test('are tried again after a failure, without a gap', async () => {
    const failing = createActKeeper(store.reader, files(true))
    await revoke('h1')
    await assert.rejects(failing.keep(await grow()))
    await revoke('h2')
    await createActKeeper(store.reader, files()).keep(await grow())
    assert.equal(kept().length, 2)
  })

  test('begin again in another epoch, and where what stands there is damaged', async () => {
    await revoke('h1')
    await createActKeeper(store.reader, files()).keep(await grow())
    tree = beginEpoch(tree, 'vault')
    await revoke('h2')
    const keeper = createActKeeper(store.reader, files())
    await keeper.keep(await grow())
    const [, second] = [...notes.values()].map((note) => openSegment(note, tree))
    assert.deepEqual([second?.epoch, second?.base, second?.after, second?.until], [2, 1, 1, 2])
    notes.set(keyOf({ epoch: 2, after: 1 }), 'damaged')
    await createActKeeper(store.reader, files()).keep(tree)
    assert.equal(kept().length, 2)
  })
})

test('[BKP-15] a list of many entries leaves everybody else a turn after each hundred', async () => {
  for (let count = 0; count < 450; count += 1) await append(store, { requestId: null })
  let turns = 0
  const done = new AbortController()
  const count = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await nextTurn()
      turns += 1
    }
  }
  const counting = count()
  await createActKeeper(store.reader, files()).keep(await grow())
  done.abort()
  await counting
  assert.ok(turns >= 5, `${turns} turns`)
})
