// The checker on made-up histories: one that is as it should be, and each way in which one may not be.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GENESIS_HASH, hashEntry } from '../../src/audit/hash-chain.ts'
import { checkHistory } from './check-history.ts'
import type { Entry, FinalState, Operation } from './operation.ts'

type Said = Pick<Entry, 'tipo_evento' | 'payload'> & Partial<Pick<Entry, 'request_id'>>

const AT = '2026-11-24T02:00:00.000000Z'

function chain(...said: readonly Said[]): Entry[] {
  let previous = GENESIS_HASH
  return said.map(({ tipo_evento, payload, request_id = null }, index) => {
    const payload_text = JSON.stringify(payload)
    const hash_anterior = previous
    previous = hashEntry(hash_anterior, payload_text, AT)
    const rest = { payload, payload_text, request_id, timestamp: AT }
    return { seq: index + 1, tipo_evento, hash_anterior, hash_atual: previous, ...rest }
  })
}

const A = { hostname: 'a.example' }
const TOKEN: Said = { tipo_evento: 'token_created', payload: A }
const ENROLLED: Said = { tipo_evento: 'agent_enrolled', payload: A }
const CERTIFIED: Said = { tipo_evento: 'certificate_issued', payload: { ...A, sha256: 'c1' } }
const RENEWED: Said = { tipo_evento: 'certificate_issued', payload: { ...A, sha256: 'c2' } }
const FIRST: Said = { tipo_evento: 'noted', payload: { number: 1 }, request_id: 'r1' }
const SECOND: Said = { tipo_evento: 'noted', payload: { number: 2 }, request_id: 'r2' }
const REVOKED: Said = { tipo_evento: 'agent_revoked', payload: A }

const LOG = chain(TOKEN, ENROLLED, CERTIFIED, FIRST, SECOND, RENEWED, REVOKED)

/** One after the other, each 10 ms long. */
function operations(): Operation[] {
  const of = (kind: Operation['kind'], key: string, answer?: string) => ({ kind, key, answer })
  return [
    of('token', 'a.example', 't1'),
    of('enrol', 'use-1', 'c1'),
    of('event', 'r1', LOG[3]?.hash_atual),
    of('event', 'r2', LOG[4]?.hash_atual),
    of('issue', 'csr-2', 'c2'),
    of('revoke', 'a.example'),
  ].map(({ kind, key, answer }, index) => ({
    kind,
    key,
    ...A,
    hub: index % 2,
    startMs: 100 * index,
    endMs: 100 * index + 10,
    outcome: 'acknowledged',
    ...(answer !== undefined && { answer }),
  }))
}

const REVOKED_MS = 510

function poll(startMs: number, more: Partial<Operation> = {}): Operation {
  const endMs = startMs + 5
  return { kind: 'poll', key: '', ...A, hub: 1, startMs, endMs, outcome: 'acknowledged', ...more }
}

function stateOf(log: readonly Entry[], more: Partial<FinalState> = {}): FinalState {
  const hosts = new Set(['a.example'])
  return { log, logsOfHubs: [log], consumedTokens: hosts, enrolledHosts: hosts, ...more }
}

function find(history: readonly Operation[], state: FinalState): string[] {
  return checkHistory(history, state).map(({ kind, text }) => `${kind}: ${text}`)
}

describe('the checker of histories', () => {
  test('finds nothing where nothing is wrong', () => {
    const served = [poll(400), poll(505), poll(600, { outcome: 'refused' })]
    assert.deepEqual(find([...operations(), ...served], stateOf(LOG)), [])
    assert.deepEqual(
      find([], stateOf([], { consumedTokens: new Set(), enrolledHosts: new Set() })),
      [],
    )
  })

  test('an act that nobody was told of is there or not', () => {
    const [token, enrol, , second] = operations()
    assert.ok(token && enrol && second)
    const unknown = { ...second, outcome: 'unknown' } as const
    assert.deepEqual(find([token, enrol, unknown], stateOf(LOG)), [])
    assert.deepEqual(find([token, enrol, unknown], stateOf(LOG.slice(0, 3))), [])
  })

  test('an act that was asked for again began with the first request', () => {
    const [, , first, second] = operations()
    assert.ok(first && second)
    // Its first request was on its way when the other event was sent, and is the later entry.
    const early = { ...first, startMs: 0, endMs: 5, outcome: 'unknown' } as const
    const swapped = chain(TOKEN, ENROLLED, CERTIFIED, SECOND, FIRST)
    const answers = [
      { ...second, startMs: 20, endMs: 30, answer: swapped[3]?.hash_atual ?? '' },
      { ...first, startMs: 300, endMs: 310, answer: swapped[4]?.hash_atual ?? '' },
    ]
    assert.deepEqual(find([early, ...answers], stateOf(swapped)), [])
  })

  test('finds what was acknowledged and is lost', () => {
    assert.deepEqual(find(operations(), stateOf(LOG.slice(0, 4))), [
      'lost: event r2 of a.example was acknowledged',
      'lost: issue csr-2 of a.example was acknowledged',
      'lost: revoke a.example of a.example was acknowledged',
    ])
  })

  test('finds an event that is there twice, and one of another hash', () => {
    const twice = chain(TOKEN, ENROLLED, CERTIFIED, FIRST, SECOND, RENEWED, REVOKED, SECOND)
    assert.ok(find(operations(), stateOf(twice)).includes('doubled: event r2 is entries 5, 8'))
    const other = { ...SECOND, payload: { number: 3 } }
    const changed = chain(TOKEN, ENROLLED, CERTIFIED, FIRST, other, RENEWED, REVOKED)
    assert.deepEqual(find(operations(), stateOf(changed)), [
      'changed: event r2 of a.example is entry 5, of another hash',
    ])
  })

  test('finds an enrolment that is there twice', () => {
    const twice = chain(TOKEN, ENROLLED, CERTIFIED, FIRST, SECOND, RENEWED, REVOKED, ENROLLED)
    assert.ok(
      find(operations(), stateOf(twice)).includes(
        'doubled: agent_enrolled a.example is entries 2, 8',
      ),
    )
  })

  test('finds a chain that is broken', () => {
    const without = LOG.filter(({ seq }) => seq !== 2)
    assert.ok(find([], stateOf(without)).includes('chain: entry 3: expected entry 2'))
  })

  test('finds what stands before something that was over when it began', () => {
    const [, , first, second] = operations()
    assert.ok(first && second)
    const swapped = chain(TOKEN, ENROLLED, CERTIFIED, SECOND, FIRST)
    const answers = [
      { ...second, answer: swapped[3]?.hash_atual ?? '' },
      { ...first, answer: swapped[4]?.hash_atual ?? '' },
    ]
    assert.deepEqual(find(answers, stateOf(swapped)), [
      'order: event r2 of a.example is entry 4, and event r1 of a.example, which was over before, entry 5',
    ])
  })

  test('finds a token that opened twice', () => {
    const [token, enrol, ...rest] = operations()
    assert.ok(token && enrol)
    const again = { ...enrol, key: 'use-2' }
    assert.deepEqual(find([token, enrol, again, ...rest], stateOf(LOG)), [], 'the same answer')
    const other = chain(TOKEN, ENROLLED, CERTIFIED, FIRST, SECOND, RENEWED, REVOKED)
    assert.deepEqual(find([token, enrol, { ...again, answer: 'c2' }, ...rest], stateOf(other)), [
      'token: the token of a.example opened 2 times',
    ])
  })

  test('finds what was served after a revocation', () => {
    const late = [
      poll(REVOKED_MS + 1),
      poll(REVOKED_MS + 20, { kind: 'stream', endMs: REVOKED_MS + 30 }),
      poll(0, { kind: 'stream', endMs: REVOKED_MS + 1001 }),
      poll(0, { kind: 'stream', endMs: REVOKED_MS + 999 }),
    ]
    assert.deepEqual(find([...operations(), ...late], stateOf(LOG)), [
      'revocation: a.example, revoked: hub 2 served a poll 1 ms later',
      'revocation: a.example, revoked: hub 2 served a stream 20 ms later',
      'revocation: a.example, revoked: hub 2 served a stream 1001 ms later',
    ])
  })

  test('finds half of an enrolment', () => {
    const none = new Set<string>()
    assert.deepEqual(find(operations(), stateOf(LOG, { consumedTokens: none })), [
      'half: the enrolment of a.example lacks token',
    ])
    assert.deepEqual(find([], stateOf(chain(TOKEN, ENROLLED), { consumedTokens: none })), [
      'half: the enrolment of a.example lacks token, certificate',
    ])
  })

  test('finds a hub whose log is another one, and none that is behind', () => {
    const other = chain(TOKEN, ENROLLED, CERTIFIED, SECOND)
    assert.deepEqual(find([], stateOf(LOG, { logsOfHubs: [LOG.slice(0, 3), other] })), [
      'apart: hub 2 has another entry 4',
    ])
  })
})
