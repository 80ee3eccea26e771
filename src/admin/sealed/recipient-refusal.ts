import { UserError } from '../../platform/errors.ts'
import type {
  RecipientVerdict,
  SharedRecipient,
  Stranger,
} from '../../sealing/recipients/judge-recipients.ts'

/** What the operator reads of a verdict, a line for each recipient, and what they can do. */
export function explainRefusal(verdict: RecipientVerdict & { ok: false }): UserError {
  switch (verdict.reason) {
    case 'absent':
      return refusal('recipient_absent', verdict.hostnames.map(describeAbsent), {
        hint: 'its svc-agent is older than 0.2.0, or has not run since its update; svc delivery cancel removes the agent from a load',
      })
    case 'nameless':
      return refusal('recipient_invalid', verdict.hostnames.map(describeNameless))
    case 'malformed':
      return refusal('recipient_invalid', verdict.whose.map(describeMalformed))
    case 'unmatched':
      return refusal('recipient_unknown', verdict.fingerprints.map(describeUnmatched), {
        hint: 'svc agent show HOST shows what the hub says, svc-agent identity on the host what is true',
      })
    case 'shared':
      return refusal('recipient_shared', [describeShared(verdict.shared)], {
        hint: 'each host has its own recipient, which svc-agent identity shows there',
      })
    default:
      return refuseStrangers(verdict.strangers)
  }
}

function refuseStrangers(strangers: readonly Stranger[]): UserError {
  const options = strangers.map(({ fingerprint }) => `--accept-recipient ${fingerprint}`)
  return refusal('recipient_new', strangers.map(describeStranger), {
    hint: `compare with svc-agent identity on the host, then repeat with ${options.join(' ')}`,
  })
}

function describeStranger({ hostname, fingerprint, earlier }: Stranger): string {
  if (hostname === undefined) return `the escrow recipient is new here: ${fingerprint}`
  if (earlier === undefined) return `the recipient of ${hostname} is new here: ${fingerprint}`
  if (earlier === fingerprint) {
    return `the recipient of ${hostname} was the recipient of another agent: ${fingerprint}`
  }
  return `the recipient of ${hostname} has changed: ${fingerprint}, it was ${earlier}`
}

function describeAbsent(hostname: string): string {
  return `agent ${hostname} has told the hub no recipient to seal for`
}

function describeNameless(hostname: string): string {
  return `the hub names an agent whose hostname is not a hostname: ${JSON.stringify(hostname)}`
}

function describeShared({ hostnames, fingerprint }: SharedRecipient): string {
  const whose = hostnames.map((hostname) => hostname ?? 'the escrow').join(' and ')
  return `the hub names one recipient for ${whose}: ${fingerprint}`
}

function describeMalformed(whose: string): string {
  return `the hub’s recipient of ${whose} does not have the form age1pq1…`
}

function describeUnmatched(fingerprint: string): string {
  return `the hub names nobody here whose recipient is ${fingerprint}`
}

function refusal(
  code: string,
  lines: readonly string[],
  options: { hint?: string } = {},
): UserError {
  return new UserError(code, lines.join('\n'), options)
}
