// The recipients that a file may be sealed for: none that only the hub vouches for. Pure; for svc and for a page that seals. docs/protocol.md SEA.

import { parseHostname, parseRecipient, type Recipient } from '../../protocol/identifiers.ts'
import type { AdminRecipient } from '../../protocol/admin/views.ts'
import { NO_PINS, type RecipientPins } from './recipient-pins.ts'

/** What people compare: a browser has it from elsewhere than Node. */
export type FingerprintOf = (recipient: Recipient) => string

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

/** A recipient that the hub names for several agents, and that the operator vouches for as the recipient of one agent. */
export interface SharedRecipient {
  readonly fingerprint: string
  /** Hostnames; undefined is the escrow. */
  readonly hostnames: readonly (string | undefined)[]
}

export type RecipientVerdict =
  | {
      readonly ok: true
      readonly agents: readonly KnownAgent[]
      readonly escrow: readonly Recipient[]
      /** All of them: to be remembered once they have been sealed for. */
      readonly pins: RecipientPins
    }
  | { readonly ok: false; readonly reason: 'nameless'; readonly hostnames: readonly string[] }
  | { readonly ok: false; readonly reason: 'malformed'; readonly whose: readonly string[] }
  | { readonly ok: false; readonly reason: 'absent'; readonly hostnames: readonly string[] }
  | { readonly ok: false; readonly reason: 'unmatched'; readonly fingerprints: readonly string[] }
  | { readonly ok: false; readonly reason: 'shared'; readonly shared: SharedRecipient }
  | { readonly ok: false; readonly reason: 'strange'; readonly strangers: readonly Stranger[] }

export interface NamedByHub {
  readonly agents: readonly AdminRecipient[]
  readonly escrow: readonly string[]
}

export function judgeRecipients(
  named: NamedByHub,
  known: RecipientPins,
  vouched: Vouched,
  fingerprintOf: FingerprintOf,
): RecipientVerdict {
  // Shown beside fingerprints that the operator compares: it must not say anything itself.
  const nameless = named.agents.filter(({ hostname }) => parseHostname(hostname) === undefined)
  if (nameless.length > 0) {
    return { ok: false, reason: 'nameless', hostnames: nameless.map(({ hostname }) => hostname) }
  }
  const absent = named.agents.filter(({ recipient }) => recipient === null)
  if (absent.length > 0) {
    return { ok: false, reason: 'absent', hostnames: absent.map(({ hostname }) => hostname) }
  }
  const agents = named.agents.map((agent) => parseAgent(agent, fingerprintOf))
  const escrow = named.escrow.map((text) => parseRecipient(text))
  const malformed = [
    ...named.agents
      .filter((_agent, index) => agents[index] === undefined)
      .map((agent) => agent.hostname),
    ...(escrow.includes(undefined) ? ['escrow'] : []),
  ]
  if (malformed.length > 0) return { ok: false, reason: 'malformed', whose: malformed }
  const parsed = { agents: agents.filter(isThere), escrow: escrow.filter(isThere) }
  return judgeParsed(parsed, known, vouched, fingerprintOf)
}

function judgeParsed(
  {
    agents,
    escrow,
  }: { readonly agents: readonly KnownAgent[]; readonly escrow: readonly Recipient[] },
  known: RecipientPins,
  vouched: Vouched,
  fingerprintOf: FingerprintOf,
): RecipientVerdict {
  const escrowPrints = escrow.map(fingerprintOf)
  const there = new Set([...agents.map(({ fingerprint }) => fingerprint), ...escrowPrints])
  const byHand = vouched.recipients.map(fingerprintOf)
  const trusted = new Set([...vouched.fingerprints, ...byHand])
  const unmatched = [...trusted].filter((fingerprint) => !there.has(fingerprint))
  if (unmatched.length > 0) return { ok: false, reason: 'unmatched', fingerprints: unmatched }
  const holders = [
    ...agents,
    ...escrowPrints.map((fingerprint) => ({ hostname: undefined, fingerprint })),
  ]
  const newcomers = findNewcomers(agents, escrowPrints, known)
  const vouchedFor = newcomers.filter(({ fingerprint }) => trusted.has(fingerprint))
  const shared = findShared(vouchedFor, holders)
  if (shared !== undefined) return { ok: false, reason: 'shared', shared }
  const strangers = newcomers.filter(({ fingerprint }) => !trusted.has(fingerprint))
  if (strangers.length > 0) return { ok: false, reason: 'strange', strangers }
  const pins = {
    agents: new Map(agents.map(({ id, hostname, fingerprint }) => [id, { hostname, fingerprint }])),
    escrow: new Set(escrowPrints),
    cargoes: NO_PINS.cargoes,
  }
  return { ok: true, agents, escrow, pins }
}

function parseAgent(
  { id, hostname, recipient }: AdminRecipient,
  fingerprintOf: FingerprintOf,
): KnownAgent | undefined {
  const parsed = recipient === null ? undefined : parseRecipient(recipient)
  return parsed && { id, hostname, recipient: parsed, fingerprint: fingerprintOf(parsed) }
}

function findNewcomers(
  agents: readonly KnownAgent[],
  escrowPrints: readonly string[],
  known: RecipientPins,
): Stranger[] {
  return [
    ...agents.filter((agent) => !isPinned(agent, known)).map((agent) => toStranger(agent, known)),
    ...escrowPrints
      .filter((fingerprint) => !known.escrow.has(fingerprint))
      .map((fingerprint) => ({ hostname: undefined, fingerprint, earlier: undefined })),
  ]
}

/** With its name: else a hub could hand out one host's recipient as another's. */
function isPinned({ id, hostname, fingerprint }: KnownAgent, known: RecipientPins): boolean {
  const pin = known.agents.get(id)
  return pin?.fingerprint === fingerprint && pin.hostname === hostname
}

/**
 * The operator vouches for one agent at a time: otherwise a hub could make svc remember a host's recipient as the recipient
 * of another host, or as an escrow recipient that the hub names beside it.
 */
function findShared(
  vouchedFor: readonly Stranger[],
  holders: readonly Pick<Stranger, 'hostname' | 'fingerprint'>[],
): SharedRecipient | undefined {
  for (const { fingerprint } of vouchedFor) {
    const sharers = holders.filter((holder) => holder.fingerprint === fingerprint)
    if (sharers.length > 1)
      return { fingerprint, hostnames: sharers.map(({ hostname }) => hostname) }
  }
  return undefined
}

function toStranger({ id, hostname, fingerprint }: KnownAgent, known: RecipientPins): Stranger {
  const pin =
    known.agents.get(id) ?? [...known.agents.values()].find((each) => each.hostname === hostname)
  return { hostname, fingerprint, earlier: pin?.fingerprint }
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined
}
