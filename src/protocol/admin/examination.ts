// What a running hub says of itself to `svc doctor`: facts, which svc judges. docs/protocol.md DOC-20.

import type { Static } from 'typebox'
import { nullable, time } from './operation.ts'
import { Type } from './plain-type.ts'

const bytes = Type.Number()

export const DiskFacts = Type.Object({
  directory: Type.String(),
  /** As the kernel numbers kinds of file systems. */
  file_system: Type.Number(),
  free_bytes: bytes,
  /** Null where it is lifted. */
  floor_bytes: nullable(bytes),
  /** Null where the file system does not count files. */
  files_free: nullable(Type.Number()),
  /** Null for who may not look. */
  vault_bytes: nullable(bytes),
  /** By the entries of the last week; null when there is no such week. */
  growth_bytes_per_day: nullable(bytes),
})
export type DiskFacts = Static<typeof DiskFacts>

export const AuthorityFacts = Type.Object({
  url: Type.String(),
  /** Where it is no step-ca. */
  kind: Type.Optional(Type.Literal('openbao')),
  fault: nullable(
    Type.Union([
      Type.Literal('unreachable'),
      Type.Literal('untrusted'),
      /** Its certificate has ended, or has not begun, by the hub's clock. */
      Type.Literal('other_time'),
      Type.Literal('not_a_ca'),
      Type.Literal('no_provisioner'),
      Type.Literal('other_kind'),
      Type.Literal('other_key'),
      Type.Literal('other_name'),
    ]),
  ),
  /** What it answered, or why it did not. */
  reason: Type.String(),
  /** By how much the hub's clock is ahead of the CA's, in whole seconds; null when the CA does not say. */
  clock_ahead_seconds: nullable(Type.Integer()),
})
export type AuthorityFacts = Static<typeof AuthorityFacts>

export const CertificateFacts = Type.Object({
  /** Of the hub itself; null when there is none yet. */
  own: nullable(
    Type.Object({ not_before: time, not_after: time, names: Type.Array(Type.String()) }),
  ),
  issuers: Type.Array(
    Type.Object({ name: Type.String(), is_root: Type.Boolean(), not_after: time }),
  ),
})
export type CertificateFacts = Static<typeof CertificateFacts>

/** Null where the system does not say, and for what has no limit `Infinity` is never sent: it is `unlimited`. */
const limit = Type.Union([Type.Number(), Type.Literal('unlimited'), Type.Null()])

export const ProcessFacts = Type.Object({
  open_files_max: limit,
  core_bytes_max: limit,
  swap_bytes_max: limit,
})
export type ProcessFacts = Static<typeof ProcessFacts>
export type ProcessLimit = Static<typeof limit>

export const CheckpointFacts = Type.Object({
  /** When the newest one covered the whole log last; null when it has not yet, since the start. */
  vault_at: nullable(time),
  /** The same of the directory of `SVC_CHECKPOINT_PATH`. */
  outside_at: nullable(time),
  is_kept_outside: Type.Boolean(),
  /** Of the hub. */
  up_seconds: Type.Number(),
})
export type CheckpointFacts = Static<typeof CheckpointFacts>

export const BackupFacts = Type.Object({
  interval_seconds: Type.Number(),
  /** Of the newest whole one in `SVC_BACKUP_DIR`; null when there is none. */
  last_at: nullable(time),
  /** Of the hub. */
  up_seconds: Type.Number(),
})
export type BackupFacts = Static<typeof BackupFacts>

export const SegmentFacts = Type.Object({
  /** Null where SVC_LOG_ARCHIVE_DIR is not set. */
  directory: nullable(Type.String()),
  segments: Type.Integer(),
  /** Not there, or not to be read. */
  missing: Type.Integer(),
  /** Not as long as the vault knows. */
  damaged: Type.Integer(),
  /** The first twenty of both at most. */
  faulty: Type.Array(
    Type.Object({
      file: Type.String(),
      first: Type.Integer(),
      last: Type.Integer(),
      state: Type.String(),
    }),
  ),
})
export type SegmentFacts = Static<typeof SegmentFacts>

export const OpenidFacts = Type.Object({
  issuer: Type.String(),
  /** Why the provider cannot be asked; null while it can. */
  reason: nullable(Type.String()),
  /** Whether it can send browsers back to the console. */
  is_console_reached: Type.Boolean(),
})
export type OpenidFacts = Static<typeof OpenidFacts>

export const BacklogFacts = Type.Object({
  webhooks: Type.Array(
    Type.Object({
      id: Type.String(),
      /** Never the whole URL. */
      origin: Type.String(),
      disabled: Type.Boolean(),
      /** Null while it does not fail. */
      error: nullable(Type.String()),
      waiting: Type.Integer(),
      given_up: Type.Integer(),
    }),
  ),
  revocations: Type.Object({
    /** The first 100 at most. */
    waiting: Type.Integer(),
    refused: Type.Integer(),
    oldest_at: nullable(time),
    reason: nullable(Type.String()),
  }),
  /** The first ten at most. */
  late: Type.Array(Type.Object({ hostname: Type.String(), not_after: time })),
  last_entry_at: nullable(time),
  entries: Type.Integer(),
})
export type BacklogFacts = Static<typeof BacklogFacts>

export const AdminExamination = Type.Object({
  version: Type.String(),
  time,
  disk: nullable(DiskFacts),
  ca: nullable(AuthorityFacts),
  certificates: nullable(CertificateFacts),
  process: nullable(ProcessFacts),
  checkpoints: nullable(CheckpointFacts),
  /** Null also where the hub makes none by itself. */
  backups: nullable(BackupFacts),
  segments: nullable(SegmentFacts),
  /** Of a hub that has an OpenID provider. */
  openid: Type.Optional(OpenidFacts),
  backlog: BacklogFacts,
  /** Why a part is null. */
  unknown: Type.Array(Type.Object({ part: Type.String(), reason: Type.String() })),
})
export type AdminExamination = Static<typeof AdminExamination>
