import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  insertAgent,
  insertCertificate,
  insertJoinRule,
  insertToken,
  LATER,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { RememberedAct } from '../../domain/remembered-act.ts'
import type { Store } from '../../store/store.ts'
import type { AdminAct } from '../admin-act.ts'
import { replayActs } from './replay-acts.ts'

const TOKEN = 'a'.repeat(64)
const AT = '2026-11-21T10:30:00.000000Z'
let store: Store & AsyncDisposable
let agent: Agent

beforeEach(async () => {
  store = await openTemporaryStore()
  agent = await insertAgent(store, 'web-1')
})
afterEach(() => store[Symbol.asyncDispose]())

let seq = 0
const about = () => ({ seq: (seq += 1), at: AT })
const ofAgent = ({ id, hostname }: Agent) => ({ ...about(), agente_id: id, hostname })
const enrolled = (of: Agent, token = TOKEN, role = 'web'): RememberedAct => ({
  ...ofAgent(of),
  type: 'agent_enrolled',
  role,
  token,
})
const revoked = (of: Agent): RememberedAct => ({ ...ofAgent(of), type: 'agent_revoked' })
const removed = (of: Agent): RememberedAct => ({ ...ofAgent(of), type: 'agent_removed' })

const replay = (...acts: readonly RememberedAct[]): Promise<readonly AdminAct[]> =>
  store.write((writer) => replayActs(writer, acts, LATER))
const typesOf = (acts: readonly AdminAct[]): string[] => acts.map(({ type }) => type)
const read = (of: Agent): Promise<Agent | undefined> => store.reader.findAgentById(of.id)

describe('[BKP-19] an act that is done again', () => {
  test('revokes the agent, its certificates and the tokens that name it', async () => {
    const { sha256 } = await insertCertificate(store, agent.id)
    const { hash } = await insertToken(store, {
      expectedHostname: agent.hostname,
      expiresAt: LATER,
    })
    assert.deepEqual(await replay(revoked(agent)), [
      {
        type: 'agent_revoked',
        payload: {
          actor: 'restore',
          recorded_at: AT,
          agente_id: agent.id,
          hostname: 'web-1',
          tokens_ended: 0,
        },
      },
    ])
    assert.deepEqual((await read(agent))?.revokedAt, LATER)
    assert.deepEqual((await store.reader.findCertificate(sha256))?.revokedAt, LATER)
    assert.notEqual((await store.reader.findToken(hash))?.endedAt, null)
    assert.deepEqual(await replay(revoked(agent)), [])
  })

  test('spends the token, so that it enrols nobody again', async () => {
    const { hash } = await insertToken(store, { expiresAt: new Date('2027-01-01') })
    await replay(
      enrolled({ ...agent, id: other('web-9').id, hostname: other('web-9').hostname }, hash),
    )
    assert.deepEqual((await store.reader.findToken(hash))?.consumedAt, new Date(AT))
  })

  test('[JNR-6] takes the place of a join rule that the backup has, once', async () => {
    const { rule } = await insertJoinRule(store)
    const young = other('web-2')
    const act = { ...enrolled(young), join_rule: rule.id } as RememberedAct
    const [done] = await replay(act)
    assert.equal(done?.payload['join_rule'], rule.name)
    assert.deepEqual(await replay(act), [])
    assert.equal((await store.reader.findJoinRule(rule.id))?.hosts, 1)
    const unknown = { ...enrolled(other('web-3'), 'c'.repeat(64)), join_rule: 'f'.repeat(16) }
    assert.deepEqual(typesOf(await replay(unknown as RememberedAct)), ['agent_enrolled'])
  })

  test('[JNR-4] ends a join rule for good, once', async () => {
    const { rule } = await insertJoinRule(store)
    const act: RememberedAct = { ...about(), type: 'join_rule_ended', join_rule: rule.id }
    assert.deepEqual(await replay(act), [
      {
        type: 'join_rule_ended',
        payload: {
          actor: 'restore',
          recorded_at: AT,
          join_rule_id: rule.id,
          join_rule: rule.name,
          hosts: 0,
        },
      },
    ])
    assert.deepEqual((await store.reader.findJoinRule(rule.id))?.endedAt, LATER)
    assert.deepEqual(await replay(act), [])
  })

  test('[DCL-8] ends the join rules that an apply ended', async () => {
    const { rule } = await insertJoinRule(store)
    const act: RememberedAct = { ...about(), type: 'fleet_applied', join_rules: [rule.id] }
    assert.deepEqual(typesOf(await replay(act)), ['join_rule_ended'])
    assert.deepEqual((await store.reader.findJoinRule(rule.id))?.endedAt, LATER)
    assert.deepEqual(await replay(act), [])
  })

  test('makes the agent that enrolled, and revokes it when it was revoked', async () => {
    const young = other('web-2')
    const done = await replay(enrolled(young, TOKEN, 'db'), revoked(young))
    assert.deepEqual(typesOf(done), ['agent_enrolled', 'agent_revoked'])
    const found = await read(young)
    assert.deepEqual([found?.hostname, found?.role, found?.enrolledWith], ['web-2', 'db', TOKEN])
    assert.deepEqual(found?.revokedAt, LATER)
    const token = await store.reader.findToken(TOKEN as TokenHash)
    assert.deepEqual(token?.consumedAt, new Date(AT))
  })

  test('is done once, also when an earlier restore did it and kept only some of what it did', async () => {
    const young = other('web-2')
    const again = 'b'.repeat(64)
    await replay(enrolled(young), revoked(young), enrolled(young, again), revoked(young))
    const kept = [enrolled(young), revoked(young), enrolled(young, again)]
    assert.deepEqual(await replay(...kept), [])
    const found = await read(young)
    assert.deepEqual([found?.enrolledWith, found?.revokedAt], [again, LATER])
  })

  test('brings a host back that was revoked and enrolled again, and none of its earlier certificates', async () => {
    const { sha256 } = await insertCertificate(store, agent.id)
    const done = await replay(revoked(agent), enrolled(agent, TOKEN, 'db'))
    assert.deepEqual(typesOf(done), ['agent_revoked', 'agent_enrolled'])
    const found = await read(agent)
    assert.deepEqual([found?.revokedAt, found?.role, found?.enrolledWith], [null, 'db', TOKEN])
    assert.notEqual((await store.reader.findCertificate(sha256))?.revokedAt, null)
    assert.deepEqual(await replay(enrolled(agent, TOKEN, 'db')), [])
  })

  test('removes the agent, whose hostname another one may have then', async () => {
    const heir = { ...other('web-1') }
    const done = await replay(revoked(agent), removed(agent), enrolled(heir))
    assert.deepEqual(typesOf(done), ['agent_revoked', 'agent_removed', 'agent_enrolled'])
    assert.deepEqual((await store.reader.findAgentByHostname('web-1'))?.id, heir.id)
    assert.deepEqual(await replay(removed(agent), revoked(agent)), [])
  })

  test('ends tokens, of operators too', async () => {
    const { hash } = await insertToken(store, { expiresAt: new Date('2027-01-01') })
    const access = {
      hash: 'b'.repeat(64) as TokenHash,
      name: 'ci',
      role: 'operator',
      person: null,
      only: null,
      createdAt: NOW,
      expiresAt: new Date('2027-01-01'),
      lastUsedAt: null,
      revokedAt: null,
      endedAt: null,
    } as const
    await store.write((writer) => writer.insertAccessToken(access))
    const acts: RememberedAct[] = [
      { ...about(), type: 'token_revoked', token: hash },
      { ...about(), type: 'admin_token_revoked', token: access.hash },
    ]
    assert.deepEqual(typesOf(await replay(...acts)), ['token_revoked', 'admin_token_revoked'])
    assert.notEqual((await store.reader.findToken(hash))?.endedAt, null)
    assert.deepEqual((await store.reader.findAccessToken(access.hash))?.revokedAt, LATER)
    assert.deepEqual(await replay(...acts), [])
  })

  test('of what the vault does not have changes nothing', async () => {
    const nobody = other('nobody')
    const token: RememberedAct = { ...about(), type: 'token_revoked', token: 'c'.repeat(64) }
    assert.deepEqual(await replay(revoked(nobody), removed(nobody), token), [])
    // Another agent has the hostname: somebody removed it in an act that is not kept.
    assert.deepEqual(await replay(enrolled({ ...other('web-1') })), [])
  })
})

function other(hostname: string): Agent {
  const id = `22222222-2222-4222-8222-${Buffer.from(hostname.padEnd(6, '_')).toString('hex')}`
  return { ...agent, id: id as Agent['id'], hostname: hostname as Agent['hostname'] }
}
