// Whom the page may seal for: svc asks the hub itself, and judges by its own recipients.json, as `svc carga create` does. The page names
// no recipient. docs/protocol.md LOC-8, LOC-9, SEA-4, SEA-5.

import { randomUUID } from 'node:crypto'
import { UserError } from '../../platform/errors.ts'
import type {
  JudgedRecipients,
  JudgeRequest,
  KeepRequest,
} from '../../protocol/admin/local-console.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import { fingerprintOf } from '../../sealing/age-identity.ts'
import { askRecipients } from '../../sealing/recipients/ask-recipients.ts'
import { judgeRecipients } from '../../sealing/recipients/judge-recipients.ts'
import type { RecipientPins } from '../../sealing/recipients/recipient-pins.ts'
import type { OpenPins } from '../sealed/open-pins.ts'
import { explainRefusal } from '../sealed/recipient-refusal.ts'
import { explainOthers, refuseTooMany } from '../sealed/seal-for-agents.ts'

export interface PinDesk {
  judge(request: JudgeRequest): Promise<JudgedRecipients>
  keep(request: KeepRequest): Promise<void>
}

interface Judged {
  /** Undefined of a new one. */
  readonly cargoId: string | undefined
  readonly pins: RecipientPins
}

/** A page has one open; the oldest gives way. */
const TICKETS_MAX = 16

export function createPinDesk(
  operations: AdminOperations,
  openPins: () => Promise<OpenPins>,
): PinDesk {
  const tickets = new Map<string, Judged>()
  const usingPins = async <T>(work: (pins: OpenPins) => Promise<T>): Promise<T> => {
    const pins = await openPins()
    try {
      return await work(pins)
    } finally {
      pins.close()
    }
  }
  const issueTicket = (judged: Judged): string => {
    const [oldest] = tickets.keys()
    if (tickets.size >= TICKETS_MAX && oldest !== undefined) tickets.delete(oldest)
    const ticket = randomUUID()
    tickets.set(ticket, judged)
    return ticket
  }
  return {
    judge: (request) =>
      usingPins(async ({ known }) => {
        const settled = await askRecipients(operations.listRecipients, request)
        if (!settled.ok) throw explainOthers(settled)
        const { wanted, leftOut } = settled
        if (wanted.agentes.length === 0) {
          throw new UserError('no_recipient', 'there is nobody to seal for')
        }
        const named = { agents: wanted.agentes, escrow: wanted.escrow }
        const vouched = { fingerprints: new Set(request.vouched), recipients: [] }
        const verdict = judgeRecipients(named, known, vouched, fingerprintOf)
        const common = {
          left_out: [...leftOut],
          content_bytes_max: wanted.content_bytes_max,
        }
        if (verdict.ok) {
          const { agents, escrow, pins } = verdict
          refuseTooMany(agents.length + escrow.length)
          return {
            ...common,
            strangers: [],
            agentes: agents.map((agent) => ({ ...agent })),
            escrow: [...escrow],
            ticket: issueTicket({ cargoId: request.carga, pins }),
          }
        }
        if (verdict.reason !== 'strange') throw explainRefusal(verdict)
        const strangers = verdict.strangers.map(({ hostname, fingerprint, earlier }) => ({
          hostname: hostname ?? null,
          fingerprint,
          earlier: earlier ?? null,
        }))
        return { ...common, strangers, agentes: [], escrow: [], ticket: null }
      }),
    keep: ({ ticket, carga_id: id, versao, sha256 }) =>
      usingPins(async (pins) => {
        const judged = tickets.get(ticket)
        if (judged === undefined || (judged.cargoId ?? id) !== id) {
          throw new UserError('ticket_unknown', 'svc has judged no recipients for that')
        }
        // Otherwise a hub could make this machine remember the file of one carga as the file of another.
        if (judged.cargoId === undefined && pins.known.cargoes.has(id)) {
          throw new UserError(
            'carga_known',
            `the hub gives a new load the id of one that this machine sealed before: ${id}`,
          )
        }
        tickets.delete(ticket)
        await pins.add({ ...judged.pins, cargoes: new Map([[id, { versao, sha256 }]]) })
      }),
  }
}
