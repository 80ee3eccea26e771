// The agent's side of the wire: replies decoded to English types, events encoded to the wire's words.

import type { Static, TSchema } from 'typebox'
import { Check } from 'typebox/value'
import {
  type CargoId,
  type DeliveryId,
  parseRecipient,
  type Recipient,
} from '../../protocol/identifiers.ts'
import { LIMITS } from '../../protocol/limits.ts'
import {
  AnnouncedUpdateBody,
  type BundleAdoptedPayload,
  type BundleRefusedPayload,
  BundleReplyBody,
  CheckpointMessage,
  ConsistencyReplyBody,
  EnrollReplyBody,
  EventReplyBody,
  type EventRequestBody,
  IssueReplyBody,
  LogReplyBody,
  ManifestEntryBody,
  ReceiptReplyBody,
  RecipientReplyBody,
  type SignedSet,
  TpmChallengeReplyBody,
} from '../../protocol/schemas.ts'
import { EventType, type RenewalTrigger } from '../../protocol/words.ts'

export interface EnrollReply {
  readonly agentId: string
  readonly certificatePem: string
  readonly caPem: string
  /** By which key the hub says that the roots are signed, and the signed set. */
  readonly trustKey?: string
  readonly signed?: SignedSet
}

export interface IssueReply {
  readonly certificatePem: string
  readonly caPem: string
}

/** What only the TPM of this host can read. */
export interface TpmChallenge {
  /** TPM2B_ID_OBJECT. */
  readonly blob: Buffer
  /** TPM2B_ENCRYPTED_SECRET. */
  readonly encryptedSeed: Buffer
  readonly untilSeconds: number
}

export interface ManifestEntry {
  readonly deliveryId: DeliveryId
  readonly cargoId: CargoId
  readonly kind: string
  readonly name: string
  readonly version: number
  readonly status: string
  /** Of a pushed file, as the hub says it. */
  readonly mode?: string
  /** The names that the CSR has to have; undefined where it needs none. */
  readonly sans?: readonly string[]
}

export interface Manifest {
  readonly entries: readonly ManifestEntry[]
  /** Entries that could not be read, or were over the limit: left out, so that they hold up no others. */
  readonly ignoredCount: number
  /** A version of the agent that the hub announces, as it says it; undefined where it announces none to this host that can be read. */
  readonly announced?: AnnouncedVersion | undefined
  /** Of the set of roots that the hub has in force; undefined with a hub that has no sets. */
  readonly bundleNumber?: BundleNumber | undefined
}

export interface AnnouncedVersion {
  readonly version: string
  readonly rollout: string
}

/** Where a set of roots stands among the others: by época first; there is one época unless an operator made a new one. */
export interface BundleNumber {
  readonly epoch: number
  readonly number: number
}

/** The roots that a hub has in force. */
export interface Bundle extends BundleNumber {
  /** PEM, one each, as they came. */
  readonly roots: readonly string[]
  /** By a trust key, where the hub has one. */
  readonly signed?: SignedSet
}

export interface EventReceipt {
  readonly entryId: string
  readonly hash: string
}

/** An event before it has a `request_id`. */
export interface AgentEvent {
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly deliveryId?: DeliveryId
}

/** Each decoder answers undefined when the reply is not what the protocol says. */
export function decodeEnrollReply(body: unknown): EnrollReply | undefined {
  if (!matches(EnrollReplyBody, body)) return undefined
  const { trust_key: trustKey, signed } = body
  return {
    agentId: body.agent_id,
    certificatePem: body.cert_pem,
    caPem: body.ca_pem,
    ...(trustKey === undefined ? {} : { trustKey }),
    ...(signed && { signed }),
  }
}

export function decodeTpmChallenge(body: unknown): TpmChallenge | undefined {
  if (!matches(TpmChallengeReplyBody, body)) return undefined
  return {
    blob: Buffer.from(body.credential, 'base64'),
    encryptedSeed: Buffer.from(body.encrypted_seed, 'base64'),
    untilSeconds: body.until,
  }
}

export function decodeIssueReply(body: unknown): IssueReply | undefined {
  if (!matches(IssueReplyBody, body)) return undefined
  return { certificatePem: body.cert_pem, caPem: body.ca_pem }
}

export function decodeEventReply(body: unknown): EventReceipt | undefined {
  if (!matches(EventReplyBody, body)) return undefined
  return { entryId: body.evento_id, hash: body.hash_atual }
}

export function decodeRecipientReply(body: unknown): Recipient | undefined {
  return matches(RecipientReplyBody, body) ? parseRecipient(body.recipient) : undefined
}

export function decodeReceiptReply(body: unknown): string | undefined {
  return matches(ReceiptReplyBody, body) ? body.receipt : undefined
}

export function decodeBundleReply(body: unknown): Bundle | undefined {
  if (!matches(BundleReplyBody, body)) return undefined
  const { epoca: epoch = 1, numero: number, roots, signed } = body
  return { epoch, number, roots, ...(signed && { signed }) }
}

/** What a hub says of its log; nothing of it is checked yet. */
export type LogReply = LogReplyBody

export function decodeLogReply(body: unknown): LogReply | undefined {
  return matches(LogReplyBody, body) ? body : undefined
}

/** The signed note in the data of a message of the stream; undefined when there is none. */
export function decodeCheckpointMessage(data: string): string | undefined {
  try {
    const body = JSON.parse(data) as unknown
    return matches(CheckpointMessage, body)
      ? Buffer.from(body.checkpoint, 'base64').toString()
      : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export function decodeConsistencyReply(body: unknown): readonly Buffer[] | undefined {
  if (!matches(ConsistencyReplyBody, body) || body.proof.length > PROOF_HASHES_MAX) return undefined
  return body.proof.map((text) => Buffer.from(text, 'base64'))
}
/** Twice the levels of the largest tree there can be. */
const PROOF_HASHES_MAX = 128

export function decodeManifestReply(body: unknown): Manifest | undefined {
  if (typeof body !== 'object' || body === null || !('entregas' in body)) return undefined
  const listed: unknown = body.entregas
  if (!Array.isArray(listed)) return undefined
  const readable = listed
    .slice(0, LIMITS.manifestDeliveriesMax)
    .filter((entry) => matches(ManifestEntryBody, entry))
  return {
    entries: readable.map((entry) => ({
      // The schema has checked that both are UUIDs.
      deliveryId: entry.id as DeliveryId,
      cargoId: entry.carga_id as CargoId,
      kind: entry.tipo,
      name: entry.nome,
      version: entry.versao,
      status: entry.status,
      ...(entry.modo === undefined ? {} : { mode: entry.modo }),
      ...(entry.sans === undefined ? {} : { sans: entry.sans }),
    })),
    ignoredCount: listed.length - readable.length,
    ...('atualizacao' in body && readAnnounced(body.atualizacao)),
  }
}

/** What cannot be read holds up nothing else. */
function readAnnounced(announced: unknown): Pick<Manifest, 'announced'> {
  if (!matches(AnnouncedUpdateBody, announced)) return {}
  return { announced: { version: announced.versao, rollout: announced.rollout } }
}

export function encodeEvent(event: AgentEvent, requestId: string): EventRequestBody {
  return {
    tipo_evento: event.type,
    payload: event.payload,
    ...(event.deliveryId === undefined ? {} : { entrega_id: event.deliveryId }),
    request_id: requestId,
  }
}

export function agentStarted(payload: {
  readonly hostname: string
  readonly labels: Readonly<Record<string, string>>
}): AgentEvent {
  return { type: EventType.agentStarted, payload }
}

export function manifestPulled(count: number): AgentEvent {
  return { type: EventType.manifestPulled, payload: { count } }
}

export function bundleAdopted(payload: BundleAdoptedPayload): AgentEvent {
  return { type: EventType.bundleAdopted, payload }
}

export function bundleRefused(payload: BundleRefusedPayload): AgentEvent {
  return { type: EventType.bundleRefused, payload }
}

/** The log of the hub goes on in another epoch, which the agent has checked. */
export function logEpochAdopted(payload: { origem: string; entradas: number }): AgentEvent {
  return { type: EventType.logEpochAdopted, payload }
}

export function logAlarm(payload: { motivo: string }): AgentEvent {
  return { type: EventType.logAlarm, payload }
}

export interface Renewal {
  readonly oldSerial: string
  readonly newSerial: string
  readonly trigger: RenewalTrigger
}

export function identityRenewed({ oldSerial, newSerial, trigger }: Renewal): AgentEvent {
  return {
    type: EventType.certRenewed,
    payload: { old_serial: oldSerial, new_serial: newSerial, trigger },
  }
}

export function deliveryRenewed(
  deliveryId: DeliveryId,
  name: string,
  { oldSerial, newSerial, trigger }: Renewal,
): AgentEvent {
  return {
    type: EventType.certRenewed,
    payload: { old_serial: oldSerial, new_serial: newSerial, trigger, carga_nome: name },
    deliveryId,
  }
}

export function deliveryInstalled(
  deliveryId: DeliveryId,
  name: string,
  paths: { readonly certificatePath: string; readonly keyPath: string },
  serial: string,
): AgentEvent {
  const { certificatePath, keyPath } = paths
  return {
    type: EventType.deliveryInstalled,
    payload: { cert_path: certificatePath, key_path: keyPath, carga_nome: name, serial },
    deliveryId,
  }
}

export function fileDelivered(
  deliveryId: DeliveryId,
  name: string,
  { path, version }: { readonly path: string; readonly version: number },
): AgentEvent {
  return {
    type: EventType.deliveryDelivered,
    payload: { path, carga_nome: name, versao: version },
    deliveryId,
  }
}

export function deliveryFailed(deliveryId: DeliveryId, reason: string): AgentEvent {
  return { type: EventType.deliveryFailed, payload: { erro: reason }, deliveryId }
}

export interface HookFailureReport {
  readonly hook: string
  readonly reason: string
  readonly exitCode: number | null
  readonly durationMs: number
}

export function hookFailed(
  deliveryId: DeliveryId,
  name: string,
  { hook, reason, exitCode, durationMs }: HookFailureReport,
): AgentEvent {
  return {
    type: EventType.hookFailed,
    payload: {
      carga_nome: name,
      hook,
      erro: reason,
      exit_code: exitCode,
      duration_ms: durationMs,
    },
    deliveryId,
  }
}

function matches<Schema extends TSchema>(schema: Schema, body: unknown): body is Static<Schema> {
  return Check(schema, body)
}
