// What `svc-agent identity` prints.

import { describeError } from '../../platform/errors.ts'
import type { Recipient } from '../../protocol/identifiers.ts'
import { fingerprintOf } from '../../sealing/age-identity.ts'
import { readAgeKey, readRecipient } from './age-key.ts'
import type { Identity } from './identity.ts'

export interface IdentityDescription {
  readonly hostname: string
  readonly cert_cn: string
  readonly cert_serial: string
  readonly not_before: string
  readonly not_after: string
  readonly data_dir: string
  /** Whom to seal for, when this host is to read it; null for none, or a damaged one. */
  readonly recipient: Recipient | null
  readonly recipient_fingerprint: string | null
  /** Why the host has no recipient. */
  readonly recipient_problem: string | null
}

/** Of a recipient, on a terminal. */
const RECIPIENT_CHARACTERS = 20

interface DescribedPlace {
  readonly dataDir: string
  readonly ageKeyFile: string
}

/** With the recipient that its key has. */
export function describeIdentity(
  identity: Identity,
  place: DescribedPlace,
): Promise<IdentityDescription> {
  return describe(identity, place, async (path) => (await readAgeKey(path))?.recipient)
}

/** With the recipient that the file of its key names: for an agent that is asked often, and is to stay small. */
export function describeIdentityBriefly(
  identity: Identity,
  place: DescribedPlace,
): Promise<IdentityDescription> {
  return describe(identity, place, readRecipient)
}

async function describe(
  { hostname, leaf }: Identity,
  { dataDir, ageKeyFile }: DescribedPlace,
  recipientIn: (path: string) => Promise<Recipient | undefined>,
): Promise<IdentityDescription> {
  return {
    hostname,
    cert_cn: leaf.commonName ?? '',
    cert_serial: leaf.serial,
    not_before: formatInstant(leaf.notBefore),
    not_after: formatInstant(leaf.notAfter),
    data_dir: dataDir,
    ...(await describeRecipient(() => recipientIn(ageKeyFile))),
  }
}

export function formatIdentity(description: IdentityDescription): string {
  return [
    'svc-agent identity',
    `hostname: ${description.hostname}`,
    `cert CN: ${description.cert_cn}`,
    `cert serial: ${description.cert_serial}`,
    `not_before: ${description.not_before}`,
    `not_after: ${description.not_after}`,
    `data_dir: ${description.data_dir}`,
    `recipient: ${describeShortly(description)}`,
    ...(description.recipient_fingerprint === null
      ? []
      : [`recipient fingerprint: ${description.recipient_fingerprint}`]),
  ].join('\n')
}

/** Two thousand characters, which nobody compares by eye: its fingerprint is for people, and JSON has it whole. */
function describeShortly({ recipient, recipient_problem: problem }: IdentityDescription): string {
  if (recipient === null) return `none: ${problem}`
  return `${recipient.slice(0, RECIPIENT_CHARACTERS)}… (${recipient.length} characters: --json prints it whole)`
}

async function describeRecipient(
  read: () => Promise<Recipient | undefined>,
): Promise<Pick<IdentityDescription, 'recipient' | 'recipient_fingerprint' | 'recipient_problem'>> {
  const none = { recipient: null, recipient_fingerprint: null }
  try {
    const recipient = await read()
    if (recipient === undefined) return { ...none, recipient_problem: 'run makes one' }
    return { recipient, recipient_fingerprint: fingerprintOf(recipient), recipient_problem: null }
  } catch (error) {
    return { ...none, recipient_problem: describeError(error) }
  }
}

/** RFC 3339, UTC, whole seconds: certificates have no finer ones. */
export function formatInstant(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`
}
