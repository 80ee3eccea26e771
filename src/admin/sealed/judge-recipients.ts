// Whom a file may be sealed for: nobody whom only the hub vouches for. Pure. docs/protocol.md SEA.

import { parseRecipient, type Recipient } from '../../protocol/identifiers.ts'
import type { AdminRecipient } from '../../protocol/admin.ts'
import { fingerprintOf } from '../../sealing/age-identity.ts'
import type { RecipientPins } from './recipient-pins.ts'

/** What the operator vouches for. */
export interface Vouched {
  readonly fingerprints: ReadonlySet<string>
  /** In full, got by hand; each has to be one that the hub names. */
  readonly recipients: readonly Recipient[]
}

export interface KnownAgent {
  readonly id: string
  readonly hostname: string
  readonly recipient: Recipient
  readonly fingerprint: string
}

/** A recipient that wants the operator's word. */
export interface Stranger {
  /** Undefined of an escrow. */
  readonly hostname: string | undefined
  readonly fingerprint: string
  /** What is remembered in its place; undefined when it is new. */
  readonly earlier: string | undefined
}

export type RecipientVerdict =
  | {
      readonly ok: true
      readonly agents: readonly KnownAgent[]
      readonly escrow: readonly Recipient[]
      /** All of them: to be remembered once they have been sealed for. */
      readonly pins: RecipientPins
    }
  | { readonly ok: false; readonly reason: 'malformed'; readonly whose: readonly string[] }
  | { readonly ok: false; readonly reason: 'absent'; readonly hostnames: readonly string[] }
  | { readonly ok: false; readonly reason: 'unmatched'; readonly fingerprints: readonly string[] }
  | { readonly ok: false; readonly reason: 'strange'; readonly strangers: readonly Stranger[] }

export interface NamedByHub {
  readonly agents: readonly AdminRecipient[]
  readonly escrow: readonly string[]
}

export function judgeRecipients(
  named: NamedByHub,
  known: RecipientPins,
  vouched: Vouched,
): RecipientVerdict {
  const absent = named.agents.filter(({ recipient }) => recipient === null)
  if (absent.length > 0) {
    return { ok: false, reason: 'absent', hostnames: absent.map(({ hostname }) => hostname) }
  }
  const agents = named.agents.map(parseAgent)
  const escrow = named.escrow.map((text) => parseRecipient(text))
  const malformed = [
    ...named.agents
      .filter((_agent, index) => agents[index] === undefined)
      .map((agent) => agent.hostname),
    ...(escrow.includes(undefined) ? ['escrow'] : []),
  ]
  if (malformed.length > 0) return { ok: false, reason: 'malformed', whose: malformed }
  return judgeParsed(agents.filter(isThere), escrow.filter(isThere), known, vouched)
}

function judgeParsed(
  agents: readonly KnownAgent[],
  escrow: readonly Recipient[],
  known: RecipientPins,
  vouched: Vouched,
): RecipientVerdict {
  const escrowPrints = escrow.map(fingerprintOf)
  const there = new Set([...agents.map(({ fingerprint }) => fingerprint), ...escrowPrints])
  const byHand = vouched.recipients.map(fingerprintOf)
  const trusted = new Set([...vouched.fingerprints, ...byHand])
  const unmatched = [...trusted].filter((fingerprint) => !there.has(fingerprint))
  if (unmatched.length > 0) return { ok: false, reason: 'unmatched', fingerprints: unmatched }
  const strangers = [
    ...agents
      .filter((agent) => !isPinned(agent, known) && !trusted.has(agent.fingerprint))
      .map((agent) => toStranger(agent, known)),
    ...escrowPrints
      .filter((fingerprint) => !known.escrow.has(fingerprint) && !trusted.has(fingerprint))
      .map((fingerprint) => ({ hostname: undefined, fingerprint, earlier: undefined })),
  ]
  if (strangers.length > 0) return { ok: false, reason: 'strange', strangers }
  const pins = {
    agents: new Map(agents.map(({ id, hostname, fingerprint }) => [id, { hostname, fingerprint }])),
    escrow: new Set(escrowPrints),
  }
  return { ok: true, agents, escrow, pins }
}

function parseAgent({ id, hostname, recipient }: AdminRecipient): KnownAgent | undefined {
  const parsed = recipient === null ? undefined : parseRecipient(recipient)
  return parsed && { id, hostname, recipient: parsed, fingerprint: fingerprintOf(parsed) }
}

/** With its name: else a hub could hand out one host's recipient as another's. */
function isPinned({ id, hostname, fingerprint }: KnownAgent, known: RecipientPins): boolean {
  const pin = known.agents.get(id)
  return pin?.fingerprint === fingerprint && pin.hostname === hostname
}

function toStranger({ id, hostname, fingerprint }: KnownAgent, known: RecipientPins): Stranger {
  const pin =
    known.agents.get(id) ?? [...known.agents.values()].find((each) => each.hostname === hostname)
  return { hostname, fingerprint, earlier: pin?.fingerprint }
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined
}
