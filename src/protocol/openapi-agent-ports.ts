// What the OpenAPI description says of the ports that agents and load balancers use.

import type { TSchema } from 'typebox'
import type { WireErrorCode } from './errors.ts'
import type { RouteName } from './routes.ts'
import {
  BundleReplyBody,
  EnrollReplyBody,
  EnrollRequestBody,
  EventReplyBody,
  EventRequestBody,
  HealthReplyBody,
  IssueReplyBody,
  IssueRequestBody,
  ManifestReplyBody,
  RecipientReplyBody,
  RecipientRequestBody,
  RecoverRequestBody,
} from './schemas.ts'

export interface DescribedRoute {
  readonly summary: string
  readonly request?: TSchema
  /** A schema of JSON, or another media type. */
  readonly reply: TSchema | 'application/octet-stream' | 'text/event-stream'
  /** Those of its own, besides those of its port and of every request. */
  readonly errors: readonly WireErrorCode[]
  /** Optional request headers. */
  readonly headers?: Readonly<Record<string, string>>
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
  health: { summary: 'Whether the hub runs.', reply: HealthReplyBody, errors: [] },
  enroll: {
    summary: 'A host becomes an agent, by a one-time token.',
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
    headers: { 'Idempotency-Key': 'With it the same request again gets the same reply.' },
  },
  recover: {
    summary: 'A new identity for an expired one, by a proof of its key.',
    request: RecoverRequestBody,
    reply: IssueReplyBody,
    errors: ['csr_invalid', 'csr_cn_mismatch', 'recovery_refused', 'rate_limited', 'ca_failed'],
  },
  issue: {
    summary: 'A certificate: a new identity, or one for a csr_cert delivery.',
    request: IssueRequestBody,
    reply: IssueReplyBody,
    errors: ['csr_invalid', 'csr_cn_mismatch', 'entrega_not_found', 'rate_limited', 'ca_failed'],
  },
  manifest: {
    summary: 'The deliveries that the agent has to work on.',
    reply: ManifestReplyBody,
    errors: [],
    hasTag: true,
  },
  bundle: {
    summary: 'The roots that are trusted now.',
    reply: BundleReplyBody,
    errors: [],
    hasTag: true,
  },
  events: {
    summary: 'Something that happened at the agent, for the audit log.',
    request: EventRequestBody,
    reply: EventReplyBody,
    errors: ['entrega_not_found', 'request_id_conflict', 'rate_limited'],
  },
  stream: {
    summary: 'Server-sent events, for as long as the agent likes: that there is something new.',
    reply: 'text/event-stream',
    errors: [],
    headers: { 'Last-Event-ID': 'The last id that it knows.' },
  },
  recipient: {
    summary: 'Whom files for this agent are sealed to, from now on.',
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
