import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { insertToken, newAgent } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createLogging } from '../../../platform/logger.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import type { Store } from '../../store/store.ts'
import { beginEpoch, newLogTree } from '../log-tree.ts'
import {
  createIdentityReceipts,
  type IdentityReceipts,
  type PresentedIdentity,
} from './identity-receipts.ts'

const day = (days: number): Date => new Date(Date.UTC(2030, 0, 1) + days * 86_400_000)
const RESTORE = { backupAt: day(10), at: day(17) }

let store: Store & AsyncDisposable
let tree: LogTree
let now: Date
let agent: Agent
const clock = { now: () => now, sleep: () => Promise.resolve() }
const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

beforeEach(async () => {
  store = await openTemporaryStore()
  tree = newLogTree('vault')
  agent = newAgent('web-1')
  await store.write((writer) => writer.insertAgent(agent))
  await insert(identity('0', 9))
})
afterEach(() => store[Symbol.asyncDispose]())

const identity = (digit: string, from: number): PresentedIdentity => ({
  sha256: digit.repeat(64),
  serial: digit,
  notBefore: day(from),
  notAfter: day(from + 90),
})

function insert(presented: PresentedIdentity): Promise<unknown> {
  const rest = {
    agentId: agent.id,
    purpose: 'identity',
    deliveryId: null,
    rootSha256: null,
  } as const
  return store.write((writer) => writer.insertCertificate({ ...presented, ...rest }))
}

const open = (restore: typeof RESTORE | undefined): IdentityReceipts =>
  createIdentityReceipts({ store, clock, log, newestTree: () => tree, restore })

/** What the hub signed that day, before it was lost. */
function sign(of: Agent, { sha256 }: PresentedIdentity, at: number): string {
  now = day(at)
  return open(undefined).sign(of, sha256) ?? assert.fail('it has a tree')
}

function restored(): IdentityReceipts {
  tree = beginEpoch(tree, 'vault')
  now = day(17)
  return open(RESTORE)
}

async function show(
  receipts: IdentityReceipts,
  presented: PresentedIdentity,
  receipt: string,
): Promise<string> {
  const found = await receipts.examine(presented.sha256, receipt, () => presented)
  if (!found.ok) return found.reason
  const taken = await receipts.takeBack(found)
  return taken.ok ? 'taken back' : taken.reason
}

describe('[BKP-17] an identity that the hub had renewed after the backup', () => {
  test('comes back, and wins over an earlier one whose copy came first and renewed', async () => {
    const [stolen, good] = [identity('1', 11), identity('2', 12)]
    const receipts = [sign(agent, stolen, 11), sign(agent, good, 12)] as const
    const hub = restored()
    assert.equal(await show(hub, stolen, receipts[0]), 'taken back')
    await insert(identity('3', 17.5))
    assert.equal(await show(hub, good, receipts[1]), 'taken back')
    const newest = await store.reader.findNewestIdentity(agent.id)
    assert.equal(newest?.sha256, good.sha256)
  })

  test('keeps earlier ones out once it is back', async () => {
    const [stolen, good] = [identity('1', 11), identity('2', 12)]
    const receipts = [sign(agent, stolen, 11), sign(agent, good, 12)] as const
    const hub = restored()
    assert.equal(await show(hub, good, receipts[1]), 'taken back')
    assert.equal(await show(hub, stolen, receipts[0]), 'the hub knows a newer identity')
  })

  test('stays out when its host was revoked after the restore and enrolled again', async () => {
    const held = identity('1', 11)
    const receipt = sign(agent, held, 11)
    const hub = restored()
    const token = await insertToken(store, { consumedAt: day(17.1) })
    await store.write((writer) => writer.updateAgent({ ...agent, enrolledWith: token.hash }))
    assert.equal(await show(hub, held, receipt), 'the host has enrolled again since')
  })

  test('comes back in the first moment of a hub, which has shown nobody a checkpoint yet', async () => {
    const held = identity('1', 11)
    const receipt = sign(agent, held, 11)
    restored()
    await store.write((writer) => writer.putLogTree(tree, []))
    const newestTree = (): undefined => undefined
    const hub = createIdentityReceipts({ store, clock, log, newestTree, restore: RESTORE })
    assert.equal(await show(hub, held, receipt), 'taken back')
  })

  test('is looked at once more in the commit', async () => {
    const held = identity('1', 11)
    const receipt = sign(agent, held, 11)
    const hub = restored()
    const found = await hub.examine(held.sha256, receipt, () => held)
    await store.write((writer) => writer.updateAgent({ ...agent, revokedAt: now }))
    assert.ok(found.ok)
    const taken = await hub.takeBack(found)
    assert.deepEqual(taken, { ok: false, reason: 'the agent is revoked' })
    assert.equal(await store.reader.findCertificate(held.sha256), undefined)
  })

  test('is taken back once, with one entry of the log', async () => {
    const held = identity('1', 11)
    const receipt = sign(agent, held, 11)
    const hub = restored()
    const found = await hub.examine(held.sha256, receipt, () => held)
    assert.ok(found.ok)
    const both = await Promise.all([hub.takeBack(found), hub.takeBack(found)])
    assert.deepEqual(both, [{ ok: true }, { ok: true }])
    const eventType = HubEventType.identityTakenBack
    const entries = await store.reader.listEntries({ afterSeq: 0, limit: 9, eventType })
    assert.equal(entries.length, 1)
  })
})

describe('[BKP-17] an agent that enrolled after the backup', () => {
  test('is there again with its id and role, and its token is spent', async () => {
    const token = await insertToken(store, { expiresAt: day(60) })
    const young: Agent = { ...newAgent('web-2'), role: 'db', enrolledWith: token.hash }
    const held = identity('1', 11)
    const receipt = sign(young, held, 11)
    const hub = restored()
    assert.equal(await show(hub, held, receipt), 'taken back')
    const found = await store.reader.findAgentById(young.id)
    assert.deepEqual([found?.hostname, found?.role], ['web-2', 'db'])
    assert.deepEqual((await store.reader.findToken(token.hash))?.consumedAt, day(11))
  })
})

test('[BKP-16] nothing is looked at where nothing was restored, nor a month later', async () => {
  const held = identity('1', 11)
  const receipt = sign(agent, held, 11)
  restored()
  const present = () => assert.fail('nobody asks for it')
  const refusal = { ok: false, reason: 'no identity is taken back' }
  assert.deepEqual(await open(undefined).examine(held.sha256, receipt, present), refusal)
  now = day(48)
  assert.deepEqual(await open(RESTORE).examine(held.sha256, receipt, present), refusal)
})
