// Whom a page seals for, as the hub names them. Nobody is among them whom the person has not named, and of something new no escrow.
// Pure but for the question to the hub. docs/protocol.md SEA-3, SEA-14, SEA-15.

import type { AdminRequest } from '../../protocol/admin/operations.ts'
import type { AdminRecipient, AdminRecipients } from '../../protocol/admin/views.ts'

export interface AskedFor {
  /** The next content of this carga, by its id; or a new carga, for the agents that the others name. */
  readonly carga?: string
  readonly agentes: readonly string[]
  readonly roles: readonly string[]
  readonly where?: string
}

export type NamedRecipients =
  | {
      readonly ok: true
      readonly wanted: AdminRecipients
      /** Hosts that have told no recipient, and wait. */
      readonly leftOut: readonly string[]
    }
  | ({ readonly ok: false } & OtherRecipients)

export type OtherRecipients =
  /** The hub names an agent that nobody asked for. */
  | { readonly reason: 'unasked'; readonly hostname: string }
  /** The hub leaves out an agent that was asked for. */
  | { readonly reason: 'missing'; readonly name: string }

type AskHub = (request: AdminRequest<'listRecipients'>) => Promise<AdminRecipients>

export async function askRecipients(
  askHub: AskHub,
  { carga, agentes, roles, where }: AskedFor,
): Promise<NamedRecipients> {
  if (carga !== undefined) {
    const wanted = await askHub({ carga, agentes: [], roles: [] })
    return leaveOut(wanted, ({ waits, recipient }) => waits === true && recipient === null)
  }
  if (where !== undefined) {
    const wanted = await askHub({ agentes: [], roles: [], where })
    return leaveOut(withoutEscrow(wanted), ({ recipient }) => recipient === null)
  }
  const wanted = await askHub({ agentes: [...agentes], roles: [...roles] })
  const others = findOthers(wanted.agentes, { agentes, roles })
  if (others !== undefined) return { ok: false, ...others }
  return { ok: true, wanted: withoutEscrow(wanted), leftOut: [] }
}

/**
 * A hub that adds an agent which the person did not name would have the file sealed for that agent too; a hub that leaves an
 * agent out could have the word that was meant for this agent taken for another.
 */
export function findOthers(
  agents: readonly AdminRecipient[],
  asked: Pick<AskedFor, 'agentes' | 'roles'>,
): OtherRecipients | undefined {
  const names = new Set(asked.agentes)
  const roles = new Set(asked.roles)
  const unasked = agents.find(
    ({ id, hostname, role }) => !names.has(hostname) && !names.has(id) && !roles.has(role),
  )
  if (unasked !== undefined) return { reason: 'unasked', hostname: unasked.hostname }
  const named = new Set(agents.flatMap(({ id, hostname }) => [id, hostname]))
  const missing = asked.agentes.find((name) => !named.has(name))
  return missing === undefined ? undefined : { reason: 'missing', name: missing }
}

function leaveOut(
  wanted: AdminRecipients,
  isLeftOut: (agent: AdminRecipient) => boolean,
): NamedRecipients {
  return {
    ok: true,
    wanted: { ...wanted, agentes: wanted.agentes.filter((agent) => !isLeftOut(agent)) },
    leftOut: wanted.agentes.filter(isLeftOut).map(({ hostname }) => hostname),
  }
}

/** A new carga has no other than the person names, and a page names none. */
function withoutEscrow(wanted: AdminRecipients): AdminRecipients {
  return { ...wanted, escrow: [] }
}
