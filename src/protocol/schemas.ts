// The JSON of the wire: one schema gives the validator and the type. Unknown fields are ignored, nothing is coerced.

import { Type, type Static } from 'typebox'
import { EVENT_TYPE_PATTERN, UUID_PATTERN } from './identifiers.ts'
import { LIMITS } from './limits.ts'

const uuid = Type.String({ pattern: UUID_PATTERN })
const csrPem = Type.String({ minLength: 1 })
/** A hybrid post-quantum recipient of the age format. */
const recipient = Type.String({ pattern: '^age1pq1[02-9ac-hj-np-z]{1952}$' })

export const EnrollRequestBody = Type.Object({
  token: Type.String({ minLength: 1, maxLength: LIMITS.tokenCharactersMax }),
  hostname: Type.String({ minLength: 1, maxLength: LIMITS.hostnameCharactersMax }),
  role: Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax }),
  csr_pem: csrPem,
  recipient: Type.Optional(recipient),
})
export type EnrollRequestBody = Static<typeof EnrollRequestBody>

/** What a trust key signed, and the `.minisig` file of it. */
export const SignedStatement = Type.Object({
  statement: Type.String({ maxLength: LIMITS.trustStatementCharactersMax }),
  signature: Type.String({ maxLength: LIMITS.trustSignatureCharactersMax }),
})
export type SignedStatement = Static<typeof SignedStatement>

/** The statement of a set of roots, and the statements that lead from earlier trust keys to the key that signed it. */
export const SignedSet = Type.Object({
  ...SignedStatement.properties,
  key_changes: Type.Array(SignedStatement, { maxItems: LIMITS.trustKeyChangesMax }),
})
export type SignedSet = Static<typeof SignedSet>

const base64 = (maxLength: number) =>
  Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$', minLength: 4, maxLength })

/** What a host with a TPM 2.0 shows before it is believed. docs/protocol.md JNR-41. */
export const TpmChallengeRequestBody = Type.Object({
  hostname: Type.String({ minLength: 1, maxLength: LIMITS.hostnameCharactersMax }),
  role: Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax }),
  /** The certificate of its endorsement key, DER. */
  ek_cert: Type.Optional(base64(LIMITS.ekCertificateCharactersMax)),
  /** In place of that: the key itself, a SubjectPublicKeyInfo, DER. */
  ek: Type.Optional(base64(LIMITS.ekCharactersMax)),
  /** Of its attestation key: a TPM2B_PUBLIC. */
  ak: base64(LIMITS.akCharactersMax),
})
export type TpmChallengeRequestBody = Static<typeof TpmChallengeRequestBody>

export const TpmChallengeReplyBody = Type.Object({
  /** TPM2B_ID_OBJECT. */
  credential: base64(LIMITS.akCharactersMax),
  /** TPM2B_ENCRYPTED_SECRET. */
  encrypted_seed: base64(LIMITS.ekCharactersMax),
  /** Seconds since 1970. */
  until: Type.Integer({ minimum: 0, maximum: 1e11 }),
})
export type TpmChallengeReplyBody = Static<typeof TpmChallengeReplyBody>

export const EnrollReplyBody = Type.Object({
  agent_id: uuid,
  cert_pem: Type.String(),
  ca_pem: Type.String(),
  /** Both or none: what the agent demands a signature by from then on, and the set in force, signed. */
  trust_key: Type.Optional(Type.String({ maxLength: LIMITS.trustKeyCharactersMax })),
  signed: Type.Optional(SignedSet),
})
export type EnrollReplyBody = Static<typeof EnrollReplyBody>

export const IssueRequestBody = Type.Object({
  csr_pem: csrPem,
  /** The caller's own csr_cert delivery that this certificate is for; without it the certificate is an identity. */
  entrega_id: Type.Optional(uuid),
})
export type IssueRequestBody = Static<typeof IssueRequestBody>

export const IssueReplyBody = Type.Object({ cert_pem: Type.String(), ca_pem: Type.String() })
export type IssueReplyBody = Static<typeof IssueReplyBody>

export const RecoverRequestBody = Type.Object({
  /** The expired identity. */
  cert_pem: Type.String({ minLength: 1, maxLength: LIMITS.identityCharactersMax }),
  csr_pem: csrPem,
  /** Compact JWS (RFC 7515), ES256, by the key of `cert_pem`. */
  proof: Type.String({ minLength: 1, maxLength: LIMITS.proofCharactersMax }),
  /** What the hub signed of that identity: a hub that was restored may not know it. */
  receipt: Type.Optional(Type.String({ maxLength: LIMITS.receiptCharactersMax })),
})
export type RecoverRequestBody = Static<typeof RecoverRequestBody>

/** What the proof of a recovery says. */
export const RecoveryClaims = Type.Object({
  /** base64url of the SHA-256 of the CSR’s DER. */
  csr_sha256: Type.String({ minLength: 1, maxLength: 64 }),
  /** The host of the hub’s mutual-TLS URL. */
  aud: Type.String({ minLength: 1, maxLength: LIMITS.hostnameCharactersMax }),
  /** Seconds since 1970. */
  iat: Type.Number(),
  jti: Type.String({ minLength: 1, maxLength: 64 }),
})
export type RecoveryClaims = Static<typeof RecoveryClaims>

export const RecipientRequestBody = Type.Object({ recipient })
export type RecipientRequestBody = Static<typeof RecipientRequestBody>

/** The recipient that the hub has now. */
export const RecipientReplyBody = Type.Object({ recipient })
export type RecipientReplyBody = Static<typeof RecipientReplyBody>

/** What the hub has signed of its audit log. */
export const LogReplyBody = Type.Object({
  /** Of the log and its checkpoints: `<name>+<hash>+<key>`. */
  key: Type.String({ maxLength: LIMITS.logEpochCharactersMax }),
  /** A signed note: c2sp.org/tlog-checkpoint. */
  checkpoint: Type.String({ maxLength: LIMITS.logNoteCharactersMax }),
  /** How each epoch but the first began, the first one first; the newest of them where there are many. */
  epochs: Type.Array(Type.String({ maxLength: LIMITS.logEpochCharactersMax }), {
    maxItems: LIMITS.logEpochsMax,
  }),
})
export type LogReplyBody = Static<typeof LogReplyBody>

/** That the log with `from` entries is the beginning of the log with `to`: RFC 9162, 2.1.4, each hash in base64. */
/** The data of `checkpoint` on the stream. */
export const CheckpointMessage = Type.Object({
  /** The signed note, in base64, as the header has it. */
  checkpoint: Type.String(),
})
export type CheckpointMessage = Static<typeof CheckpointMessage>

export const ConsistencyReplyBody = Type.Object({ proof: Type.Array(Type.String()) })
export type ConsistencyReplyBody = Static<typeof ConsistencyReplyBody>

/** A signed note about the identity that asks. */
export const ReceiptReplyBody = Type.Object({
  receipt: Type.String({ maxLength: LIMITS.receiptCharactersMax }),
})
export type ReceiptReplyBody = Static<typeof ReceiptReplyBody>

export const ManifestEntryBody = Type.Object({
  id: uuid,
  carga_id: uuid,
  tipo: Type.String(),
  nome: Type.String(),
  versao: Type.Integer(),
  status: Type.String(),
  /** Of tipo push: octal, such as 0644. */
  modo: Type.Optional(Type.String()),
  /** Of tipo csr_cert: the names for the CSR, where the CA takes them from there. */
  sans: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 128 })),
})
export type ManifestEntryBody = Static<typeof ManifestEntryBody>

/** A newer version of the agent. Whether it is one, and whether the host takes it, the host decides: docs/protocol.md RLO-38. */
export const AnnouncedUpdateBody = Type.Object({
  versao: Type.String({ maxLength: 64 }),
  /** Of which it is; a host tries once for each. */
  rollout: Type.String({ pattern: '^[0-9a-f]{16}$' }),
})
export type AnnouncedUpdateBody = Static<typeof AnnouncedUpdateBody>

export const ManifestReplyBody = Type.Object({
  entregas: Type.Array(ManifestEntryBody),
  /** Until the agent has said that it has it; agents up to 0.4.0 do not read it. */
  atualizacao: Type.Optional(AnnouncedUpdateBody),
})
export type ManifestReplyBody = Static<typeof ManifestReplyBody>

export const EventRequestBody = Type.Object({
  tipo_evento: Type.String({ pattern: EVENT_TYPE_PATTERN }),
  payload: Type.Object({}),
  entrega_id: Type.Optional(uuid),
  request_id: Type.Optional(
    Type.Union([Type.String({ maxLength: LIMITS.requestIdCharactersMax }), Type.Null()]),
  ),
})
export type EventRequestBody = Static<typeof EventRequestBody>

/** Of `agent_started`; agents up to 0.4.0 send no labels. */
export const AgentStartedPayload = Type.Object({
  /** By key, without `host.`. */
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
})

export const EventReplyBody = Type.Object({
  evento_id: uuid,
  hash_atual: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})
export type EventReplyBody = Static<typeof EventReplyBody>

/** What agents of this version send with `alvo_aplicado`; the hub records any payload. */
/** The file of a target; absent from agents up to 0.4.0. */
const targetName = Type.Optional(Type.String({ maxLength: 255 }))

export const TargetAppliedPayload = Type.Object({
  nome: Type.String({ maxLength: 128 }),
  alvo: targetName,
  serial: Type.String({ pattern: '^[0-9a-f]{1,64}$' }),
  files: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 64 }),
  probe: Type.Union([Type.Literal('ok'), Type.Null()]),
  /** Files that others had changed or removed. */
  drift: Type.Optional(Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 64 })),
})
export type TargetAppliedPayload = Static<typeof TargetAppliedPayload>

export const TargetRevertedPayload = Type.Object({
  nome: Type.String({ maxLength: 128 }),
  alvo: targetName,
  serial: Type.String({ pattern: '^[0-9a-f]{1,64}$' }),
  step: Type.Union([
    Type.Literal('check'),
    Type.Literal('stage'),
    Type.Literal('switch'),
    Type.Literal('reload'),
    Type.Literal('probe'),
    Type.Literal('interrupted'),
  ]),
  reason: Type.String({ maxLength: 1024 }),
  /** The last lines that a command printed. */
  output: Type.Optional(Type.String({ maxLength: 2048 })),
})
export type TargetRevertedPayload = Static<typeof TargetRevertedPayload>

export const TargetRemovedPayload = Type.Object({
  nome: Type.String({ maxLength: 128 }),
  alvo: Type.String({ maxLength: 255 }),
})
export type TargetRemovedPayload = Static<typeof TargetRemovedPayload>

/** As TargetAppliedPayload, of a target of a file, which is known by its version and cannot be probed. */
export const FileTargetAppliedPayload = Type.Object({
  nome: TargetAppliedPayload.properties.nome,
  alvo: targetName,
  versao: Type.Integer(),
  files: TargetAppliedPayload.properties.files,
  drift: TargetAppliedPayload.properties.drift,
})
export type FileTargetAppliedPayload = Static<typeof FileTargetAppliedPayload>

export const FileTargetRevertedPayload = Type.Object({
  nome: TargetRevertedPayload.properties.nome,
  alvo: targetName,
  versao: Type.Integer(),
  step: TargetRevertedPayload.properties.step,
  reason: TargetRevertedPayload.properties.reason,
  output: TargetRevertedPayload.properties.output,
})
export type FileTargetRevertedPayload = Static<typeof FileTargetRevertedPayload>

const fingerprints = Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), {
  maxItems: LIMITS.rootsMax,
})
const bundleNumber = Type.Integer({ minimum: 1, maximum: LIMITS.rootSetNumberMax })
/** Within which the number only grows; the first one is not told. */
const bundleEpoch = Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.rootSetNumberMax }))

/** The roots that are trusted now, PEM, one certificate each; the number only grows. */
export const BundleReplyBody = Type.Object({
  numero: bundleNumber,
  epoca: bundleEpoch,
  roots: Type.Array(Type.String(), { minItems: 1, maxItems: LIMITS.rootsMax }),
  signed: Type.Optional(SignedSet),
})
export type BundleReplyBody = Static<typeof BundleReplyBody>

/** What agents of this version send with `bundle_adopted`: the set that they trust from now on. */
export const BundleAdoptedPayload = Type.Object({
  numero: bundleNumber,
  epoca: bundleEpoch,
  /** SHA-256 of each root's DER. */
  fingerprints,
  /** What the hub is trusted by instead, where a file on the host says so. */
  pinned: Type.Optional(fingerprints),
})
export type BundleAdoptedPayload = Static<typeof BundleAdoptedPayload>

export const BundleRefusedPayload = Type.Object({
  /** Of the set that was offered. */
  numero: bundleNumber,
  epoca: bundleEpoch,
  erro: Type.String({ maxLength: 1024 }),
  /** What they go on trusting. */
  current: Type.Union([bundleNumber, Type.Null()]),
  fingerprints,
  pinned: Type.Optional(fingerprints),
})
export type BundleRefusedPayload = Static<typeof BundleRefusedPayload>

const announcedTo = {
  /** As it was announced. */
  versao: Type.String({ maxLength: 64 }),
  /** Which announced it. */
  rollout: Type.Optional(Type.String({ pattern: '^[0-9a-f]{16}$' })),
}

/** Of `agent_updated`. */
export const AgentUpdatedPayload = Type.Object(announcedTo)
export type AgentUpdatedPayload = Static<typeof AgentUpdatedPayload>

/** Of `agent_update_failed` and `agent_update_declined`. */
export const AgentNotUpdatedPayload = Type.Object({
  ...announcedTo,
  erro: Type.String({ maxLength: 1024 }),
})
export type AgentNotUpdatedPayload = Static<typeof AgentNotUpdatedPayload>

export const HealthReplyBody = Type.Object({ status: Type.Literal('ok'), version: Type.String() })
export type HealthReplyBody = Static<typeof HealthReplyBody>

export const ErrorReplyBody = Type.Object({ error: Type.String() })
export type ErrorReplyBody = Static<typeof ErrorReplyBody>
