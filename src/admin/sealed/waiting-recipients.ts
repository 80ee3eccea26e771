// Hosts of a selector that a sealed file can wait for: one that nobody can seal for yet keeps no other from its file. Pure.
// docs/protocol.md SEA-14, SEA-15.

import type { AdminRecipient, AdminRecipients } from '../../protocol/admin/views.ts'
import { parseRecipient } from '../../protocol/identifiers.ts'
import { fingerprintOf } from '../../sealing/age-identity.ts'
import type { Vouched } from '../../sealing/recipients/judge-recipients.ts'
import type { RecipientPins } from '../../sealing/recipients/recipient-pins.ts'

export interface SettledRecipients {
  readonly wanted: AdminRecipients
  readonly leftOut: readonly LeftOut[]
}

export interface LeftOut {
  readonly hostname: string
  /** Of a recipient that nobody vouches for; undefined where the agent has told none. */
  readonly fingerprint: string | undefined
}

export function takeAll(wanted: AdminRecipients): SettledRecipients {
  return { wanted, leftOut: [] }
}

/** Those that have told no recipient. */
export function leaveOutAbsent(wanted: AdminRecipients): SettledRecipients {
  return settle(wanted, ({ recipient }) => recipient !== null)
}

/** Of those that do not have the carga yet the ones that nobody vouches for, too: the others are not left out. */
export function leaveOutStrange(
  wanted: AdminRecipients,
  known: RecipientPins,
  { fingerprints, recipients }: Vouched,
): SettledRecipients {
  const vouched = new Set([...fingerprints, ...recipients.map(fingerprintOf)])
  return settle(wanted, (agent) => {
    if (agent.waits !== true) return true
    const fingerprint = fingerprintOfAgent(agent)
    if (fingerprint === undefined) return false
    const pin = known.agents.get(agent.id)
    const isPinned = pin?.fingerprint === fingerprint && pin.hostname === agent.hostname
    return isPinned || vouched.has(fingerprint)
  })
}

/** Of those that do not have the carga yet, the ones that have told no recipient. */
export function leaveOutWaiting(wanted: AdminRecipients): SettledRecipients {
  return settle(wanted, ({ waits, recipient }) => waits !== true || recipient !== null)
}

function settle(
  wanted: AdminRecipients,
  isTaken: (agent: AdminRecipient) => boolean,
): SettledRecipients {
  const taken = wanted.agentes.filter(isTaken)
  const left = wanted.agentes.filter((agent) => !isTaken(agent))
  return {
    wanted: { ...wanted, agentes: taken },
    leftOut: left.map((agent) => {
      return { hostname: agent.hostname, fingerprint: fingerprintOfAgent(agent) }
    }),
  }
}

function fingerprintOfAgent({ recipient }: AdminRecipient): string | undefined {
  const parsed = recipient === null ? undefined : parseRecipient(recipient)
  return parsed && fingerprintOf(parsed)
}

export function describeLeftOut({ hostname, fingerprint }: LeftOut): string {
  return fingerprint === undefined
    ? `agent ${hostname} waits: it has told the hub no recipient to seal for`
    : `agent ${hostname} waits: its recipient ${fingerprint} is new here; compare it with svc-agent identity there, and repeat with --accept-recipient ${fingerprint}`
}
