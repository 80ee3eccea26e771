// The hub as a whole: its figures, the roots that it trusts, its audit log.

import { LIMITS } from '../limits.ts'
import {
  COSIGNED_CHARACTERS_MAX,
  ENTRY_GROUPS,
  ENTRY_PAGE_MAX,
  ENTRY_TYPES_MAX,
  LIST_PAGE_MAX,
  PROVEN_BLOCKS_MAX,
  SEGMENT_PAGE_MAX,
  WITNESSES_MAX,
  WITNESS_KEY_CHARACTERS_MAX,
} from './bounds.ts'
import { AdminExamination } from './examination.ts'
import { AdminFleetSummary, fleetSummaryRequest } from './fleet-summary.ts'
import { type AdminOperation, nothing, nullable, text, time } from './operation.ts'
import { Type } from './plain-type.ts'
import { rolloutRules } from './rollouts.ts'
import { AdminBundle, AdminEntry, AdminSegment, AdminStatus, AdminUpdatedBundle } from './views.ts'

/** Agents are offered the set in waves; it takes no root away, and begins no época. */
const inWaves = Type.Object(rolloutRules)

export const HUB_OPERATIONS = {
  showStatus: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/status',
    role: 'viewer',
    summary: 'How many hosts and certificates there are, and for how long the hub may stay down.',
    request: nothing,
    reply: AdminStatus,
  },
  summarizeFleet: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/fleet/summary',
    role: 'viewer',
    summary:
      'A whole fleet in one reply: what is late, when certificates end, for how long the hub may stay down, and what waits.',
    request: fleetSummaryRequest,
    reply: AdminFleetSummary,
  },
  showFeatures: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/features',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'What this hub can do, and earlier hubs would silently leave out.',
    request: nothing,
    reply: Type.Object({ features: Type.Array(Type.String()) }),
  },
  showExamination: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/examination',
    role: 'viewer',
    summary: 'What the hub sees of its disk, its CA, its certificates, its limits and its backlog.',
    request: nothing,
    reply: AdminExamination,
  },
  showBundle: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/bundle',
    role: 'viewer',
    summary: 'The trusted roots, and the agents that do not trust them yet.',
    request: Type.Object({
      /** Only so many of `pendentes`, and `pendentes_total`. */
      pendentes_max: Type.Optional(Type.Integer({ minimum: 0, maximum: LIST_PAGE_MAX })),
    }),
    reply: AdminBundle,
  },
  updateBundle: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/bundle/update',
    role: 'admin',
    confirm: 'always',
    summary: 'Read the root file again; its roots become the next set.',
    request: Type.Object({
      /** Also when agents need a root that goes. */
      force: Type.Optional(Type.Boolean()),
      /** The number of the new set, greater than the number of the last set; also when the roots stay the same. */
      numero: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.rootSetNumberNamedMax })),
      /** Counts again, from 1 or from `numero`; agents before 0.5.0 do not follow that. */
      nova_epoca: Type.Optional(Type.Boolean()),
      in_waves: Type.Optional(inWaves),
    }),
    reply: AdminUpdatedBundle,
  },
  signBundle: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/bundle/sign',
    role: 'admin',
    confirm: 'always',
    summary: 'Read the root file again; its roots, which a trust key signed, become the next set.',
    request: Type.Object({
      /** What `svc bundle prepare` wrote, and the `.minisig` file of it. */
      statement: Type.String({ minLength: 1, maxLength: LIMITS.trustStatementCharactersMax }),
      signature: Type.String({ minLength: 1, maxLength: LIMITS.trustSignatureCharactersMax }),
      /** `<fleet>:<key>`: the first time; later only with `force`, when agents are told another way. */
      trust_key: Type.Optional(Type.String({ maxLength: LIMITS.trustKeyCharactersMax })),
      /** What `svc bundle prepare-key` wrote, signed by the trust key until now: the next one signed the set. */
      key_change: Type.Optional(
        Type.Object({
          statement: Type.String({ minLength: 1, maxLength: LIMITS.trustStatementCharactersMax }),
          signature: Type.String({ minLength: 1, maxLength: LIMITS.trustSignatureCharactersMax }),
        }),
      ),
      /** Also when agents need a root that goes, and with a trust key that the last one did not sign. */
      force: Type.Optional(Type.Boolean()),
      in_waves: Type.Optional(inWaves),
    }),
    reply: AdminUpdatedBundle,
  },
  listEntries: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/eventos/list',
    role: 'viewer',
    summary: 'Entries of the audit log, oldest first.',
    request: Type.Object({
      after: Type.Optional(Type.Integer({ minimum: 0 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ENTRY_PAGE_MAX })),
      /** Only the newest `last` entries that match, still oldest first. */
      last: Type.Optional(Type.Integer({ minimum: 1, maximum: ENTRY_PAGE_MAX })),
      /** Only entries before the entry with this number. */
      before: Type.Optional(Type.Integer({ minimum: 1 })),
      tipo: Type.Optional(text),
      /** In place of `tipo`: entries of any of these types. */
      tipos: Type.Optional(Type.Array(text, { minItems: 1, maxItems: ENTRY_TYPES_MAX })),
      /** What this agent sent. Hostname or id. */
      agente: Type.Optional(text),
      /** What this agent sent, and what was done to it. Hostname or id. */
      about: Type.Optional(text),
      /** What this actor did, as the payload of an act names it. */
      actor: Type.Optional(text),
      /** What people did, by `svc` or a token; or what agents sent, without routine. */
      by: Type.Optional(Type.Enum([...ENTRY_GROUPS])),
      /** False leaves out what a fleet does by itself while all is well: see CHN-41. */
      routine: Type.Optional(Type.Boolean()),
      /** Only entries at or after this time, and before that one. */
      since: Type.Optional(text),
      until: Type.Optional(text),
    }),
    reply: Type.Object({
      eventos: Type.Array(AdminEntry),
      next: nullable(Type.Integer()),
      /** With `last`, when the hub has looked at enough for one page: the `before` to go on with. */
      before: Type.Optional(Type.Integer()),
      /** With `about` or `actor`, while the hub has yet to index its acts before this entry: the list lacks them. */
      indexed_from: Type.Optional(Type.Integer()),
      /** Entries that the list lacks, since their segments are missing or damaged. */
      missing: Type.Optional(
        Type.Array(
          Type.Object({ first: Type.Integer(), last: Type.Integer(), file: Type.String() }),
        ),
      ),
      /** With `routine` false and no other filter but numbers and times: how many the page leaves out in the range that it covers. */
      hidden: Type.Optional(Type.Integer()),
      /** With a filter: up to this entry no index knows the log, and each entry was looked at. */
      archived_until: Type.Optional(Type.Integer()),
    }),
  },
  showCheckpoint: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/checkpoint',
    role: 'viewer',
    summary: 'The newest checkpoint of the audit log, and the key that signed it.',
    request: nothing,
    reply: Type.Object({
      /** A signed note (c2sp.org/tlog-checkpoint); null before the hub has signed one. */
      checkpoint: nullable(Type.String()),
      /** As verifiers take it: `<name>+<hash>+<key>`. */
      key: nullable(Type.String()),
      /** How many the checkpoint is signed for. */
      entries: Type.Integer(),
      /** The last one that witnesses of others have signed too, with their signatures. Absent from earlier hubs. */
      cosigned: Type.Optional(nullable(Type.String())),
      /** The newest entry of the log, which may be newer than the checkpoint; null without any. Absent from earlier hubs. */
      head: Type.Optional(
        nullable(Type.Object({ seq: Type.Integer(), hash_atual: Type.String(), timestamp: time })),
      ),
    }),
  },
  keepCosigned: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/checkpoint/cosigned',
    role: 'operator',
    summary: 'Keep a checkpoint of this log that witnesses of others have signed too.',
    request: Type.Object({
      /** The signed note, with the signatures of all the witnesses; other signatures are left out. */
      checkpoint: Type.String({ minLength: 1, maxLength: COSIGNED_CHARACTERS_MAX }),
      /** Their keys: c2sp.org/tlog-cosignature, `<name>+<hash>+<key>`. */
      witnesses: Type.Array(Type.String({ minLength: 1, maxLength: WITNESS_KEY_CHARACTERS_MAX }), {
        minItems: 1,
        maxItems: WITNESSES_MAX,
      }),
    }),
    reply: Type.Object({
      entries: Type.Integer(),
      /** When each has signed it, as it says. */
      witnesses: Type.Array(Type.Object({ name: Type.String(), at: time })),
    }),
  },
  showRangeProof: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/eventos/proof',
    role: 'viewer',
    summary:
      'The newest checkpoint, and the hashes that show that a range of entries is in its tree.',
    request: Type.Object({
      /** The range begins after this entry. */
      after: Type.Optional(Type.Integer({ minimum: 0 })),
      /** And ends before this one, or with the last entry of the checkpoint. */
      before: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    reply: Type.Object({
      /** As of the operation `checkpoint`. */
      checkpoint: nullable(Type.String()),
      key: nullable(Type.String()),
      entries: Type.Integer(),
      after: Type.Integer(),
      /** The last entry of the range. */
      until: Type.Integer(),
      /** Base64, of the full subtrees before the range and after it: see CHN-31. */
      left: Type.Array(Type.String()),
      right: Type.Array(Type.String()),
    }),
  },
  archiveEntries: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/eventos/archive',
    role: 'admin',
    summary:
      'One step of moving old entries into segments: writes the next segment, or removes entries that one has.',
    request: Type.Object({
      /** Only entries before this time. */
      before: text,
    }),
    reply: Type.Object({
      /** The last entry that is in a segment. */
      archived_until: Type.Integer(),
      /** The last one that is no longer in the vault. */
      removed_until: Type.Integer(),
      /** How far this goes. */
      target: Type.Integer(),
      done: Type.Boolean(),
    }),
  },
  listSegments: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/eventos/segments',
    role: 'viewer',
    summary:
      'The segments of the audit log, oldest first, and whether they are where they have to be.',
    request: Type.Object({
      after: Type.Optional(Type.Integer({ minimum: 0 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: SEGMENT_PAGE_MAX })),
    }),
    reply: Type.Object({
      segments: Type.Array(AdminSegment),
      /** The last entry that is no longer in the vault. */
      removed_until: Type.Integer(),
      next: nullable(Type.Integer()),
    }),
  },
  showBlockProofs: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/eventos/blocks',
    role: 'viewer',
    summary: 'Proofs for entries of the audit log, sixteen at a time, up to a checkpoint.',
    request: Type.Object({
      /** Of a checkpoint: the newest one, or an earlier one. */
      entries: Type.Integer({ minimum: 1 }),
      /** Block n has the entries from 16 n + 1 to 16 n + 16. */
      blocks: Type.Array(Type.Integer({ minimum: 0 }), {
        minItems: 1,
        maxItems: PROVEN_BLOCKS_MAX,
      }),
    }),
    reply: Type.Object({
      blocks: Type.Array(
        Type.Object({
          /** Base64, as `proof`: the hashes of its records, and the way to the root. See EVD-6. */
          leaves: Type.Array(Type.String()),
          proof: Type.Array(Type.String()),
        }),
      ),
    }),
  },
  listRecords: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/eventos/records',
    role: 'viewer',
    summary: 'The records of the audit log, which hash chain and tree cover, oldest first.',
    request: Type.Object({
      after: Type.Optional(Type.Integer({ minimum: 0 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_PAGE_MAX })),
    }),
    reply: Type.Object({
      /** One netstring after the other of each entry: see CHN-12. */
      registros: Type.Array(Type.String()),
      next: nullable(Type.Integer()),
    }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
