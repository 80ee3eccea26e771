// What `svc-agent status` shows, as JSON has it; format-status.ts prints it.

import { describeError } from '../../platform/errors.ts'
import { parseArtefactName } from '../../protocol/identifiers.ts'
import { DELIVERY_KINDS } from '../delivery/delivery-kinds.ts'
import type { ProcessedDelivery, ProcessedStore } from '../delivery/processed-store.ts'
import {
  describeIdentityBriefly,
  formatInstant,
  type IdentityDescription,
} from '../identity/describe-identity.ts'
import type { HubVerdict, IdentityRefusal } from '../hub/hub-verdict.ts'
import { type Identity, loadIdentity } from '../identity/identity.ts'
import { readTrustDemand } from '../identity/trust-record.ts'
import type { AgentPaths } from '../settings/paths.ts'
import type { StreamState } from '../stream/follow-hub.ts'
import type { RoundOutcome } from '../update/round-outcome.ts'
import { describeKnownLog, type LogDescription, readKnownLog } from '../witness/log-watch.ts'
import { findSurvival, type HeldCertificate } from './survival.ts'

export interface AgentStatus {
  readonly running: boolean
  readonly identity: IdentityDescription | null
  /** By the certificate, and by what the hub last said of it. With all but `valid` the hub's door is closed. */
  readonly state: 'valid' | 'expired' | 'revoked' | 'superseded' | 'not_registered' | 'none'
  /** Null until the hub has answered with this identity; a running agent up to 0.4.0 does not send this field. */
  readonly hub?: { readonly said: 'accepted' | IdentityRefusal; readonly at: string } | null
  /** What the agent holds of the hub’s audit log; a running agent up to 0.4.0 does not send this field. */
  readonly log?: LogDescription
  readonly last_poll_at: string | null
  readonly next_poll_at: string | null
  /** Of the last round; empty when all was well. */
  readonly problems: readonly string[]
  readonly events_waiting: number
  /** A running agent up to 0.4.0 does not send this field. */
  readonly roots?: {
    /** That has to have signed them, `<fleet>:<key>`; null when no signature is demanded. */
    readonly trust_key: string | null
    /** Why the agent does not adopt the set that the hub offers; null when it does. */
    readonly refused: string | null
  }
  /** Null when no agent runs; a running agent of an earlier version does not send this field. */
  readonly stream?: StreamDescription | null
  /** For how long the hub may stay away before the first certificate ends; null when none is left. */
  readonly survival_seconds: number | null
  /** The one that ends first: its delivery's name, null for the identity. */
  readonly first_to_end: { readonly name: string | null; readonly not_after: string } | null
  readonly deliveries: readonly {
    readonly id: string
    readonly kind: string
    readonly name: string
    readonly version: number
    readonly progress: string
    readonly cancelled: boolean
    readonly hook_failure: string | null
    /** Null for a file, as its end is. */
    readonly cert_serial: string | null
    readonly not_after: string | null
    /** Whether it can be read in `out/` as it was installed. */
    readonly is_installed: boolean
  }[]
}

export interface StreamDescription {
  /** `not_offered`: by a hub of an earlier version. */
  readonly state: StreamState['state'] | 'off'
  readonly since: string | null
  readonly problem: string | null
}

/** What is shown of a round. */
export interface RoundResult {
  readonly finishedAt: Date
  /** Everything that went wrong; empty when all is well. */
  readonly problems: readonly string[]
  readonly outcome: RoundOutcome
}

export interface StatusParts {
  readonly processed: Pick<ProcessedStore, 'list'>
  readonly outbox: { listWaiting(): readonly unknown[] }
  /** By the hub's clock, where it is known. */
  readonly now: Date
  /** Undefined as long as the hub has said nothing. */
  readonly verdict: HubVerdict | undefined
  /** Undefined when no agent runs. */
  readonly running:
    | {
        readonly lastResult: RoundResult | undefined
        readonly nextPollAt: Date | undefined
        /** Undefined when it is switched off. */
        readonly stream: StreamState | undefined
        readonly rootsAlarm?: string | undefined
      }
    | undefined
}

export async function readStatus(paths: AgentPaths, parts: StatusParts): Promise<AgentStatus> {
  const identity = await loadIdentity(paths.identityDir)
  const verdict = parts.verdict?.sha256 === identity?.leaf.sha256 ? parts.verdict : undefined
  const { lastResult, nextPollAt } = parts.running ?? {}
  const deliveries = await describeDeliveries(paths, parts)
  const survival = findSurvival(heldCertificates(identity, deliveries), parts.now)
  return {
    running: parts.running !== undefined,
    identity: identity === undefined ? null : await describeIdentityBriefly(identity, paths),
    state: stateOf(identity, verdict, parts.now),
    hub: verdict === undefined ? null : { said: verdict.code ?? 'accepted', at: verdict.at },
    log: describeKnownLog(await readKnownLog(paths)),
    last_poll_at: lastResult === undefined ? null : formatInstant(lastResult.finishedAt),
    next_poll_at: nextPollAt === undefined ? null : formatInstant(nextPollAt),
    problems: lastResult?.problems ?? [],
    events_waiting: parts.outbox.listWaiting().length,
    roots: await describeRoots(paths, parts.running?.rootsAlarm),
    stream: parts.running === undefined ? null : describeStream(parts.running.stream),
    survival_seconds: survival?.seconds ?? null,
    first_to_end:
      survival === undefined
        ? null
        : { name: survival.first.name, not_after: formatInstant(survival.first.notAfter) },
    deliveries,
  }
}

async function describeRoots(
  { trustFile }: AgentPaths,
  alarm: string | undefined,
): Promise<NonNullable<AgentStatus['roots']>> {
  try {
    const demand = await readTrustDemand(trustFile)
    return { trust_key: demand?.key.text ?? null, refused: alarm ?? null }
  } catch (error) {
    return { trust_key: null, refused: alarm ?? describeError(error) }
  }
}

function describeDeliveries(
  { outDir }: AgentPaths,
  { processed }: StatusParts,
): Promise<AgentStatus['deliveries']> {
  return Promise.all(
    processed.list().map(async (record) => ({
      id: record.deliveryId,
      kind: record.kind,
      name: record.name,
      version: record.version,
      progress: record.progress,
      cancelled: record.cancelled,
      hook_failure: record.reportedHookFailure,
      cert_serial: DELIVERY_KINDS[record.kind].isFile ? null : record.mark,
      ...(await describeInstalled(outDir, record)),
    })),
  )
}

/** What is renewed: a cancelled delivery will end, whether the hub is there or not. */
function heldCertificates(
  identity: Identity | undefined,
  deliveries: AgentStatus['deliveries'],
): HeldCertificate[] {
  return [
    ...(identity === undefined ? [] : [{ name: null, notAfter: identity.leaf.notAfter }]),
    ...deliveries.flatMap(({ name, cancelled, not_after }) =>
      cancelled || not_after === null ? [] : [{ name, notAfter: new Date(not_after) }],
    ),
  ]
}

function describeStream(stream: StreamState | undefined): StreamDescription {
  if (stream === undefined) return { state: 'off', since: null, problem: null }
  const { state, since, problem = null } = stream
  return { state, since: formatInstant(since), problem }
}

const STATE_OF_REFUSAL: Readonly<Record<IdentityRefusal, AgentStatus['state']>> = {
  agent_revoked: 'revoked',
  certificate_superseded: 'superseded',
  certificate_expired: 'expired',
  agent_not_registered: 'not_registered',
}

function stateOf(
  identity: Identity | undefined,
  verdict: HubVerdict | undefined,
  now: Date,
): AgentStatus['state'] {
  if (identity === undefined) return 'none'
  const code = verdict?.code ?? null
  if (code !== null) return STATE_OF_REFUSAL[code]
  return identity.leaf.notAfter <= now ? 'expired' : 'valid'
}

async function describeInstalled(
  outDir: string,
  { kind, name: text }: ProcessedDelivery,
): Promise<Pick<AgentStatus['deliveries'][number], 'not_after' | 'is_installed'>> {
  const name = parseArtefactName(text)
  const artefact = name && (await DELIVERY_KINDS[kind].read(outDir, name))
  const notAfter = artefact?.leaf?.notAfter
  return {
    not_after: notAfter === undefined ? null : formatInstant(notAfter),
    is_installed: artefact !== undefined,
  }
}
