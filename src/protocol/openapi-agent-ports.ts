// What the OpenAPI description says of the ports that agents and load balancers use.

import type { TSchema } from 'typebox'
import type { WireErrorCode } from './errors.ts'
import type { RouteName } from './routes.ts'
import {
  BundleReplyBody,
  ConsistencyReplyBody,
  EnrollReplyBody,
  EnrollRequestBody,
  EventReplyBody,
  EventRequestBody,
  HealthReplyBody,
  IssueReplyBody,
  IssueRequestBody,
  LogReplyBody,
  ManifestReplyBody,
  ReceiptReplyBody,
  RecipientReplyBody,
  RecipientRequestBody,
  RecoverRequestBody,
  TpmChallengeReplyBody,
  TpmChallengeRequestBody,
} from './schemas.ts'

export interface DescribedRoute {
  readonly summary: string
  readonly request?: TSchema
  /** A schema of JSON, or another media type. */
  readonly reply: TSchema | 'application/octet-stream' | 'text/event-stream'
  /** Its own errors, besides the errors of its port and of every request. */
  readonly errors: readonly WireErrorCode[]
  /** Optional request headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** Required, in the query. */
  readonly query?: Readonly<Record<string, string>>
  /** Answered 304 to `If-None-Match`. */
  readonly hasTag?: true
}

export const AUTHENTICATION_ERRORS: readonly WireErrorCode[] = [
  'agent_not_registered',
  'agent_revoked',
  'certificate_expired',
  'certificate_superseded',
]

export const AGENT_ROUTES: Readonly<Record<Exclude<RouteName, 'openapi'>, DescribedRoute>> = {
  health: { summary: 'Says that the hub runs.', reply: HealthReplyBody, errors: [] },
  enroll: {
    summary: 'Enrol a host with a one-time token.',
    request: EnrollRequestBody,
    reply: EnrollReplyBody,
    errors: [
      'csr_invalid',
      'token_not_found',
      'token_consumed',
      'token_expired',
      'hostname_mismatch',
      'role_mismatch',
      'agent_already_enrolled',
      'rate_limited',
      'ca_failed',
    ],
    headers: { 'Idempotency-Key': 'With this key, the same request gets the same reply again.' },
  },
  tpmChallenge: {
    summary: 'Give a host that has a TPM 2.0 what only this TPM can read.',
    request: TpmChallengeRequestBody,
    reply: TpmChallengeReplyBody,
    errors: ['token_not_found', 'rate_limited'],
  },
  recover: {
    summary: 'Replace an expired identity, by a proof of its key.',
    request: RecoverRequestBody,
    reply: IssueReplyBody,
    errors: ['csr_invalid', 'csr_cn_mismatch', 'recovery_refused', 'rate_limited', 'ca_failed'],
  },
  issue: {
    summary: 'Obtain a certificate: a new identity, or a certificate for a csr_cert delivery.',
    request: IssueRequestBody,
    reply: IssueReplyBody,
    errors: ['csr_invalid', 'csr_cn_mismatch', 'entrega_not_found', 'rate_limited', 'ca_failed'],
  },
  manifest: {
    summary: 'The deliveries that wait for the agent.',
    reply: ManifestReplyBody,
    errors: [],
    hasTag: true,
  },
  bundle: {
    summary: 'The roots in force.',
    reply: BundleReplyBody,
    errors: [],
    hasTag: true,
  },
  events: {
    summary: 'Record an event of the agent in the audit log.',
    request: EventRequestBody,
    reply: EventReplyBody,
    errors: ['entrega_not_found', 'request_id_conflict', 'rate_limited'],
  },
  log: {
    summary: 'The newest checkpoint of the audit log, its key, and how its epochs began.',
    reply: LogReplyBody,
    errors: [],
  },
  consistency: {
    summary: 'A proof that the audit log has only grown between two sizes.',
    reply: ConsistencyReplyBody,
    errors: ['rate_limited'],
    query: { from: 'Entries of the smaller log.', to: 'Entries of the greater one.' },
  },
  receipt: {
    summary:
      'What the hub has signed of the identity that asks, to be shown to the hub after a restore.',
    reply: ReceiptReplyBody,
    errors: ['rate_limited'],
    headers: {
      'x-identity-receipt':
        'The receipt, in base64, when a hub that was restored does not know the identity.',
    },
  },
  stream: {
    summary: 'Server-sent events, which tell the agent that there is something new.',
    reply: 'text/event-stream',
    errors: [],
    headers: { 'Last-Event-ID': 'The last id that the agent has seen.' },
  },
  recipient: {
    summary: 'Set the recipient for which operators seal files for this agent.',
    request: RecipientRequestBody,
    reply: RecipientReplyBody,
    errors: ['rate_limited'],
  },
  blob: {
    summary: 'The sealed file of a carga, by its id.',
    reply: 'application/octet-stream',
    errors: ['blob_not_found'],
    hasTag: true,
  },
}
