// Why nothing is sealed, when it is not that somebody has to be vouched for; with the codes of svc.

import type { OtherRecipients } from '../../../sealing/recipients/ask-recipients.ts'
import type { RecipientVerdict } from '../../../sealing/recipients/judge-recipients.ts'
import { HubError } from '../../api/hub-error.ts'
import { words } from '../../words/words.ts'

type Refused = Exclude<
  RecipientVerdict,
  { readonly ok: true } | { readonly ok: false; readonly reason: 'strange' }
>

const NAMES_MAX = 20

export function explainOthers(others: OtherRecipients): HubError {
  const { seal } = words()
  return others.reason === 'unasked'
    ? refusal('recipient_unasked', seal.unasked(others.hostname))
    : refusal('recipient_missing', seal.missing(others.name))
}

export function explainVerdict(verdict: Refused): HubError {
  const { seal } = words()
  switch (verdict.reason) {
    case 'absent':
      return refusal('recipient_absent', seal.absent(list(verdict.hostnames)))
    case 'nameless':
      return refusal('recipient_invalid', seal.nameless(list(verdict.hostnames)))
    case 'malformed':
      return refusal('recipient_invalid', seal.malformed(list(verdict.whose)))
    case 'unmatched':
      return refusal('recipient_unknown', seal.unmatched(list(verdict.fingerprints)))
    case 'shared': {
      const { fingerprint, hostnames } = verdict.shared
      const whose = hostnames.map((hostname) => hostname ?? seal.escrow)
      return refusal('recipient_shared', seal.shared(fingerprint, list(whose)))
    }
  }
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).join(', ')
  return names.length > NAMES_MAX ? `${shown} …` : shown
}

function refusal(error: string, message: string): HubError {
  return new HubError(409, { error, message }, undefined)
}
