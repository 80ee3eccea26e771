// What the commands that seal have in common.

import { type Command, Option } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { parseRecipient, type Recipient } from '../../../protocol/identifiers.ts'
import { collect } from '../collect.ts'
import type { Vouched } from '../../../sealing/recipients/judge-recipients.ts'

export interface SealOptions {
  readonly file?: string
  readonly acceptRecipient: readonly string[]
  readonly recipient: readonly string[]
}

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/

export function addSealOptions(command: Command, fileDescription: string): Command {
  return command
    .option('--file <file>', `${fileDescription}; - for standard input`)
    .option(
      '--accept-recipient <fingerprint>',
      'of a recipient that is new or has changed, compared with the host; repeatable',
      collect,
      [],
    )
    .addOption(
      new Option(
        '--recipient <recipient>',
        'the whole age1pq1… of a host, copied from there; repeatable',
      )
        .argParser(collect)
        .default([]),
    )
}

export function parseVouched({ acceptRecipient, recipient }: SealOptions): Vouched {
  const wrong = acceptRecipient.find((text) => !FINGERPRINT.test(text))
  if (wrong !== undefined) {
    throw new UserError('usage', `--accept-recipient: ${wrong} is not a fingerprint`, {
      hint: 'it begins with SHA256:; svc-agent identity on the host shows it',
    })
  }
  return {
    fingerprints: new Set(acceptRecipient),
    recipients: recipient.map((text) =>
      parseRecipientOption(text, '--recipient', 'svc-agent identity on the host shows it'),
    ),
  }
}

/** Post-quantum and classic recipients do not mix: the weaker one would open the file. */
export function parseRecipientOption(text: string, option: string, hint: string): Recipient {
  const recipient = parseRecipient(text)
  if (recipient !== undefined) return recipient
  const shown = text.length > 24 ? `${text.slice(0, 24)}…` : text
  const isClassic = /^age1[02-9ac-hj-np-z]{58}$/.test(text)
  throw new UserError(
    'recipient_invalid',
    isClassic
      ? `${option}: ${shown} is not post-quantum`
      : `${option}: ${shown} is not a recipient of the form age1pq1…`,
    { hint },
  )
}
