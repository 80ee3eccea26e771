// On a page that the hub served: this page asks for the recipients and judges them as svc does, by the fingerprints that were typed
// and a file of the person's own. It keeps nothing: a page of a hub in wrong hands could change what it kept. docs/protocol.md CON-6.

import { encode, sha256, toBase64 } from '../../../audit/browser/bytes.ts'
import { parseRecipient, type Recipient } from '../../../protocol/identifiers.ts'
import type { AdminRecipients } from '../../../protocol/admin/views.ts'
import { askRecipients } from '../../../sealing/recipients/ask-recipients.ts'
import {
  type FingerprintOf,
  judgeRecipients,
  type Stranger,
} from '../../../sealing/recipients/judge-recipients.ts'
import {
  addPins,
  NO_PINS,
  parsePins,
  PIN_FILE_BYTES_MAX,
  type RecipientPins,
  renderPins,
} from '../../../sealing/recipients/recipient-pins.ts'
import { AGE_HEADER_BYTES_MAX, sealedSize } from '../../../sealing/recipients/sealed-size.ts'
import { ask } from '../../api/client.ts'
import { HubError } from '../../api/hub-error.ts'
import { words } from '../../words/words.ts'
import { explainOthers, explainVerdict } from './explain-recipients.ts'
import type { Judgement, Sealer } from './sealer.ts'

/** `pinFile`: the `recipients.json` that the person chose. */
export function sealerOfPage(pinFile: File | undefined): Sealer {
  return {
    judge: async (asked, vouched) => {
      const known = pinFile === undefined ? NO_PINS : await readPins(pinFile)
      const named = await askRecipients((request) => ask('listRecipients', request), asked)
      if (!named.ok) throw explainOthers(named)
      const { wanted, leftOut } = named
      refuseCount(wanted.agentes.length, wanted.escrow.length)
      const verdict = judgeRecipients(
        { agents: wanted.agentes, escrow: wanted.escrow },
        known,
        { fingerprints: new Set(vouched), recipients: [] },
        await takeFingerprints(wanted),
      )
      const common = { left_out: [...leftOut], content_bytes_max: wanted.content_bytes_max }
      if (verdict.ok) {
        const { agents, escrow, pins } = verdict
        return {
          ...common,
          strangers: [],
          agentes: agents.map((agent) => ({ ...agent })),
          escrow: [...escrow],
          keep: async ({ carga_id: id, ...version }) => {
            const more = { ...pins, cargoes: new Map([[id, version]]) }
            return renderPins(addPins(known, more))
          },
        }
      }
      if (verdict.reason !== 'strange') throw explainVerdict(verdict)
      return { ...common, ...describeStrangers(verdict.strangers) }
    },
  }
}

function describeStrangers(
  strangers: readonly Stranger[],
): Pick<Judgement, 'strangers' | 'agentes' | 'escrow' | 'keep'> {
  return {
    strangers: strangers.map(({ hostname = null, fingerprint, earlier = null }) => {
      return { hostname, fingerprint, earlier }
    }),
    agentes: [],
    escrow: [],
    keep: undefined,
  }
}

/** Refused by its size before it is read. */
async function readPins(file: File): Promise<RecipientPins> {
  const { seal } = words()
  const pins = file.size > PIN_FILE_BYTES_MAX ? undefined : parsePins(await file.text())
  if (pins !== undefined) return pins
  throw refusal('recipients_invalid', seal.pinsInvalid)
}

/** Before any of them is looked at: each costs its time. */
function refuseCount(agents: number, escrow: number): void {
  const { seal } = words()
  if (agents === 0) throw refusal('no_recipient', seal.nobody)
  if (sealedSize(agents + escrow, 0).headerBytes <= AGE_HEADER_BYTES_MAX) return
  throw refusal('too_many_recipients', seal.tooMany(agents + escrow))
}

function refusal(error: string, message: string): HubError {
  return new HubError(409, { error, message }, undefined)
}

/** As svc and `svc-agent identity` write them. */
async function takeFingerprints({ agentes, escrow }: AdminRecipients): Promise<FingerprintOf> {
  const texts = [...agentes.map(({ recipient }) => recipient ?? ''), ...escrow]
  const recipients = texts.map(parseRecipient).filter((one) => one !== undefined)
  const prints = new Map(
    await Promise.all(recipients.map(async (one) => [one, await takeFingerprint(one)] as const)),
  )
  return (recipient) => {
    const print = prints.get(recipient)
    if (print === undefined) throw new Error('a recipient has no fingerprint')
    return print
  }
}

async function takeFingerprint(recipient: Recipient): Promise<string> {
  return `SHA256:${toBase64(await sha256(encode(recipient))).replace(/=+$/, '')}`
}
