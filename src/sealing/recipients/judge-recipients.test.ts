// Whom a file may be sealed for: docs/protocol.md SEA-3 to SEA-6.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Recipient } from '../../protocol/identifiers.ts'
import { fingerprintOf } from '../age-identity.ts'
import { judgeRecipients, type NamedByHub, type Vouched } from './judge-recipients.ts'
import { explainRefusal } from '../../admin/sealed/recipient-refusal.ts'
import { NO_PINS, type RecipientPins } from './recipient-pins.ts'

const recipientOf = (letter: string): Recipient => `age1pq1${letter.repeat(1952)}` as Recipient
const [one, two, three] = [recipientOf('q'), recipientOf('p'), recipientOf('z')]
const nobody: Vouched = { fingerprints: new Set(), recipients: [] }

function agent(name: string, recipient: string | null) {
  return { id: `id-of-${name}`, hostname: name, role: 'web', recipient }
}

function pinsOf(
  agents: Readonly<Record<string, Recipient>>,
  escrow: Recipient[] = [],
): RecipientPins {
  const entries = Object.entries(agents).map(
    ([name, recipient]) =>
      [`id-of-${name}`, { hostname: name, fingerprint: fingerprintOf(recipient) }] as const,
  )
  return { ...NO_PINS, agents: new Map(entries), escrow: new Set(escrow.map(fingerprintOf)) }
}

interface Case {
  readonly named: NamedByHub
  readonly known?: RecipientPins
  readonly vouched?: Partial<Vouched>
  /** Lines of the message, without the fingerprints' names; empty when it may be sealed. */
  readonly refused: readonly string[]
}

const [print1, print2, print3] = [one, two, three].map(fingerprintOf)

const cases: Readonly<Record<string, Case>> = {
  'one that is known': {
    named: { agents: [agent('a', one)], escrow: [] },
    known: pinsOf({ a: one }),
    refused: [],
  },
  'one that is new': {
    named: { agents: [agent('a', one)], escrow: [] },
    refused: [`the recipient of a is new here: ${print1}`],
  },
  'one that has changed': {
    named: { agents: [agent('a', two)], escrow: [] },
    known: pinsOf({ a: one }),
    refused: [`the recipient of a has changed: ${print2}, it was ${print1}`],
  },
  'one that has changed back without a word': {
    named: { agents: [agent('a', one)], escrow: [] },
    known: pinsOf({ a: two }),
    refused: [`the recipient of a has changed: ${print1}, it was ${print2}`],
  },
  'a known one under another name': {
    named: { agents: [{ ...agent('a', one), hostname: 'b' }], escrow: [] },
    known: pinsOf({ a: one }),
    refused: [`the recipient of b was the recipient of another agent: ${print1}`],
  },
  'the known recipient of another agent': {
    named: { agents: [agent('a', two), agent('b', two)], escrow: [] },
    known: pinsOf({ a: one, b: two }),
    refused: [`the recipient of a has changed: ${print2}, it was ${print1}`],
  },
  'a known name under another id': {
    named: { agents: [{ ...agent('a', two), id: 'new' }], escrow: [] },
    known: pinsOf({ a: one }),
    refused: [`the recipient of a has changed: ${print2}, it was ${print1}`],
  },
  'an id that every object has': {
    named: { agents: [{ ...agent('a', one), id: '__proto__' }], escrow: [] },
    refused: [`the recipient of a is new here: ${print1}`],
  },
  'one that is accepted by its fingerprint': {
    named: { agents: [agent('a', two)], escrow: [] },
    known: pinsOf({ a: one }),
    vouched: { fingerprints: new Set([print2 ?? '']) },
    refused: [],
  },
  'one that was got by hand': {
    named: { agents: [agent('a', two), agent('b', one)], escrow: [] },
    known: pinsOf({ b: one }),
    vouched: { recipients: [two] },
    refused: [],
  },
  'a fingerprint of nobody': {
    named: { agents: [agent('a', one)], escrow: [] },
    known: pinsOf({ a: one }),
    vouched: { fingerprints: new Set([print2 ?? '']) },
    refused: [`the hub names nobody here whose recipient is ${print2}`],
  },
  'a recipient got by hand that the hub does not name': {
    named: { agents: [agent('a', one)], escrow: [] },
    vouched: { recipients: [two] },
    refused: [`the hub names nobody here whose recipient is ${print2}`],
  },
  'all that are new, each by its own line': {
    named: { agents: [agent('a', one), agent('b', two)], escrow: [three] },
    refused: [
      `the recipient of a is new here: ${print1}`,
      `the recipient of b is new here: ${print2}`,
      `the escrow recipient is new here: ${print3}`,
    ],
  },
  'an escrow that is known': {
    named: { agents: [agent('a', one)], escrow: [three] },
    known: pinsOf({ a: one }, [three]),
    refused: [],
  },
  'an escrow that is known as an agent only': {
    named: { agents: [agent('a', one)], escrow: [one] },
    known: pinsOf({ a: one }),
    refused: [`the escrow recipient is new here: ${print1}`],
  },
  'agents without one': {
    named: { agents: [agent('a', null), agent('b', one), agent('c', null)], escrow: [] },
    refused: [
      'agent a has told the hub no recipient to seal for',
      'agent c has told the hub no recipient to seal for',
    ],
  },
  'an accepted one that is named for two agents': {
    named: { agents: [agent('a', two), agent('b', two)], escrow: [] },
    known: pinsOf({ a: one }),
    vouched: { fingerprints: new Set([print2 ?? '']) },
    refused: [`the hub names one recipient for a and b: ${print2}`],
  },
  'an accepted one that is known of another agent already': {
    named: { agents: [agent('a', two), agent('b', two)], escrow: [] },
    known: pinsOf({ b: two }),
    vouched: { recipients: [two] },
    refused: [`the hub names one recipient for a and b: ${print2}`],
  },
  'an accepted one of an agent that is named as escrow too': {
    named: { agents: [agent('a', two)], escrow: [two] },
    vouched: { fingerprints: new Set([print2 ?? '']) },
    refused: [`the hub names one recipient for a and the escrow: ${print2}`],
  },
  'an accepted one of an agent that is a known escrow’s': {
    named: { agents: [agent('a', two)], escrow: [two] },
    known: pinsOf({}, [two]),
    vouched: { fingerprints: new Set([print2 ?? '']) },
    refused: [`the hub names one recipient for a and the escrow: ${print2}`],
  },
  'two agents that are known by one': {
    named: { agents: [agent('a', one), agent('b', one)], escrow: [] },
    known: pinsOf({ a: one, b: one }),
    refused: [],
  },
  'a hostname that is none': {
    named: { agents: [agent(`a is new here: ${print1}\nsvc: error: b`, two)], escrow: [] },
    refused: [
      `the hub names an agent whose hostname is not a hostname: "a is new here: ${print1}\\nsvc: error: b"`,
    ],
  },
  'a hostname that is none, without a recipient': {
    named: { agents: [agent('a\nb', null)], escrow: [] },
    refused: ['the hub names an agent whose hostname is not a hostname: "a\\nb"'],
  },
  'one of the classic kind': {
    named: { agents: [agent('a', `age1${'q'.repeat(58)}`)], escrow: [] },
    refused: ['the hub’s recipient of a does not have the form age1pq1…'],
  },
  'an escrow of the classic kind': {
    named: { agents: [agent('a', one)], escrow: [`age1${'q'.repeat(58)}`] },
    refused: ['the hub’s recipient of escrow does not have the form age1pq1…'],
  },
}

describe('the judgement of recipients', () => {
  for (const [what, { named, known = NO_PINS, vouched = {}, refused }] of Object.entries(cases)) {
    test(`[SEA-3] [SEA-4] [SEA-5] [SEA-6] ${refused.length === 0 ? 'takes' : 'refuses'} ${what}`, () => {
      const verdict = judgeRecipients(named, known, { ...nobody, ...vouched }, fingerprintOf)
      assert.deepEqual(verdict.ok ? [] : explainRefusal(verdict).message.split('\n'), refused)
    })
  }

  test('[SEA-5] names what is to be remembered: those who were sealed for, with their names', () => {
    const named = { agents: [agent('a', one), agent('b', two)], escrow: [three] }
    const prints = [print1, print2, print3].map((print) => print ?? '')
    const verdict = judgeRecipients(
      named,
      pinsOf({ z: one }),
      { ...nobody, fingerprints: new Set(prints) },
      fingerprintOf,
    )
    assert.ok(verdict.ok)
    assert.deepEqual(verdict.pins, pinsOf({ a: one, b: two }, [three]))
  })

  test('[SEA-4] its hint is what to type next', () => {
    const named = { agents: [agent('a', one), agent('b', two)], escrow: [] }
    const verdict = judgeRecipients(named, NO_PINS, nobody, fingerprintOf)
    assert.ok(!verdict.ok)
    const { hint = '' } = explainRefusal(verdict)
    assert.ok(hint.endsWith(`--accept-recipient ${print1} --accept-recipient ${print2}`), hint)
  })
})
