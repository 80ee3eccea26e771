// Once a round, while the manifest names a version: looks at what there is on this host, decides, and acts. The agent cannot replace its own program;
// it leaves a request in its state, which root takes up. docs/protocol.md UPD-25, RLO-38.

import { lstat } from 'node:fs/promises'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import type { Clock } from '../../platform/clock.ts'
import { exists, readTextIfPresent, removeIfPresent, replaceFile } from '../../platform/files.ts'
import { errnoCode } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { EventType } from '../../protocol/words.ts'
import type { AgentPaths } from '../settings/paths.ts'
import type { AgentEvent } from '../hub/wire.ts'
import {
  type AnnouncedUpdate,
  decideAnnouncedUpdate,
  type UpdateVerdict,
} from './decide-announced-update.ts'
import { FAILED_VERSIONS_MAX, FailedVersion, whyNotAgain, withOutcome } from './failed-versions.ts'
import { updateNames } from './update-files.ts'
import {
  formatRequest,
  OUTCOME_BYTES_MAX,
  parseOutcome,
  type UpdateOutcome,
  updateOutcomePath,
  updateRequestPath,
} from './update-request.ts'

export interface AnnouncementContext {
  readonly paths: Pick<AgentPaths, 'stateDir' | 'announcedUpdateFile'>
  readonly clock: Clock
  /** Of no beginning, and never set: waits are measured by it. */
  readonly elapsedMs: () => number
  readonly log: Logger
  readonly outbox: { enqueue(event: AgentEvent): Promise<void> }
  readonly ownVersion: string
  readonly isPermitted: boolean
  /** The executable that runs. */
  readonly binary: string
}

/** What this process remembers of it. */
export interface AnnouncementMemory {
  /** When it asked last, for whichever rollout. */
  askedAtMs: number | undefined
  /** When it looked first. */
  lookedAtMs: number | undefined
  /** There may be a request, or an update of which the hub was not told yet how it ended. */
  isFollowing: boolean
}

export function newAnnouncementMemory(): AnnouncementMemory {
  // Those of a process before it.
  return { askedAtMs: undefined, lookedAtMs: undefined, isFollowing: true }
}

/** What this host did about the last rollout that was announced to it. */
const KeptRecord = Type.Object({
  rollout: Type.String(),
  version: Type.String({ maxLength: 64 }),
  attempts: Type.Integer({ minimum: 0, maximum: 9 }),
  /** What the hub was told last; empty when nothing. */
  reported: Type.String({ maxLength: 2048 }),
  /** Of all rollouts. */
  failed: Type.Array(FailedVersion, { maxItems: FAILED_VERSIONS_MAX }),
})

interface UpdateRecord extends AnnouncedUpdate {
  readonly attempts: number
  readonly reported: string
  readonly failed: readonly FailedVersion[]
}

const RECORD_BYTES_MAX = 16 * 1024
const WHY_CHARACTERS_MAX = 1024
/** The watcher of a new version needs a minute: a marker that is so old nobody watches. docs/protocol.md UPD-12. */
const TRIAL_MS_MAX = 10 * 60_000

export async function followAnnouncement(
  context: AnnouncementContext,
  memory: AnnouncementMemory,
  announced: AnnouncedUpdate | undefined,
): Promise<void> {
  memory.lookedAtMs ??= context.elapsedMs()
  if (announced === undefined) return followWithdrawn(context, memory)
  memory.isFollowing = true
  const kept = await readRecord(context.paths.announcedUpdateFile)
  const isSame = kept?.rollout === announced.rollout && kept.version === announced.version
  const before = isSame
    ? kept
    : { ...announced, attempts: 0, reported: '', failed: kept?.failed ?? [] }
  const { record, verdict } = await decide(context, memory, before)
  if (verdict.next === 'ask') await ask(context, memory, record)
  else if (verdict.next === 'report') await report(context, record, verdict)
}

/** The hub announces it no more: what nobody has taken up yet is not to be done, and what was begun is still reported. */
async function followWithdrawn(
  context: AnnouncementContext,
  memory: AnnouncementMemory,
): Promise<void> {
  if (!memory.isFollowing) return
  const { stateDir, announcedUpdateFile } = context.paths
  const kept = await readRecord(announcedUpdateFile)
  const request = updateRequestPath(stateDir)
  const isUntaken = await exists(request)
  if (isUntaken) await removeIfPresent(request)
  const isOpen = kept !== undefined && kept.attempts > 0 && kept.reported === ''
  if (isOpen && isUntaken) {
    await writeRecord(announcedUpdateFile, { ...kept, attempts: kept.attempts - 1 })
  } else if (isOpen) {
    const { record, verdict } = await decide(context, memory, kept)
    if (verdict.next === 'report') await report(context, record, verdict)
    if (verdict.next === 'wait') return
  }
  memory.isFollowing = false
}

interface Decision {
  readonly record: UpdateRecord
  readonly verdict: UpdateVerdict
}

async function decide(
  context: AnnouncementContext,
  { askedAtMs, lookedAtMs }: AnnouncementMemory,
  before: UpdateRecord,
): Promise<Decision> {
  const { paths, clock, ownVersion, isPermitted } = context
  // Before the marker: an update that ends in between has put the marker there before its outcome.
  const outcome = await readOutcome(paths.stateDir)
  const isTrial = await isOnTrial(context)
  const now = clock.now()
  const isOver = outcome !== undefined && outcome.version !== ownVersion && !isTrial
  const failed = isOver ? withOutcome(before.failed, outcome, now) : before.failed
  const record = { ...before, failed }
  if (failed !== before.failed) await writeRecord(paths.announcedUpdateFile, record)
  const nowMs = context.elapsedMs()
  const verdict = decideAnnouncedUpdate({
    announced: record,
    ownVersion,
    isPermitted,
    isOnTrial: isTrial,
    attempts: record.attempts,
    sinceAskedMs: askedAtMs === undefined ? undefined : nowMs - askedAtMs,
    sinceLookMs: nowMs - (lookedAtMs ?? nowMs),
    outcome: outcome !== undefined && isOf(record, outcome) ? outcome : undefined,
    whyNotAgain: whyNotAgain(failed, record, now),
    isGivenUp: record.reported.startsWith('failed '),
  })
  return { record, verdict }
}

function isOf(record: UpdateRecord, { version, rollout, attempt }: UpdateOutcome): boolean {
  return version === record.version && rollout === record.rollout && attempt === record.attempts
}

async function ask(
  { paths, elapsedMs, log }: AnnouncementContext,
  memory: AnnouncementMemory,
  record: UpdateRecord,
): Promise<void> {
  const { version, rollout } = record
  const attempt = record.attempts + 1
  await writeRecord(paths.announcedUpdateFile, { ...record, attempts: attempt })
  memory.askedAtMs = elapsedMs()
  await replaceFile(
    updateRequestPath(paths.stateDir),
    formatRequest({ version, rollout, attempt }),
    0o600,
  )
  log.info({ version, rollout, attempt }, 'Update announced, and asked for')
}

async function report(
  { paths, log, outbox }: AnnouncementContext,
  record: UpdateRecord,
  verdict: UpdateVerdict & { readonly next: 'report' },
): Promise<void> {
  const { version, rollout } = record
  const why = verdict.report === 'updated' ? '' : verdict.why.slice(0, WHY_CHARACTERS_MAX)
  const said = `${verdict.report} ${why}`
  if (record.reported === said) return
  await outbox.enqueue(
    verdict.report === 'updated'
      ? { type: EventType.agentUpdated, payload: { versao: version, rollout } }
      : { type: EVENT_OF[verdict.report], payload: { versao: version, rollout, erro: why } },
  )
  await writeRecord(paths.announcedUpdateFile, { ...record, reported: said })
  if (verdict.report === 'updated') log.info({ version, rollout }, 'Announced update runs')
  else log.warn({ version, rollout, reason: why }, `Announced update ${verdict.report}`)
}

const EVENT_OF = {
  failed: EventType.agentUpdateFailed,
  declined: EventType.agentUpdateDeclined,
} as const

async function isOnTrial({ binary, clock }: AnnouncementContext): Promise<boolean> {
  try {
    const { mtimeMs } = await lstat(updateNames(binary).marker)
    return Math.abs(clock.now().getTime() - mtimeMs) < TRIAL_MS_MAX
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ENOTDIR'].includes(errnoCode(error) ?? '')) return false
    throw error
  }
}

async function readRecord(path: string): Promise<UpdateRecord | undefined> {
  const text = await readTextIfPresent(path, RECORD_BYTES_MAX)
  if (text === undefined) return undefined
  try {
    const record: unknown = JSON.parse(text)
    return Check(KeptRecord, record) ? record : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

async function writeRecord(path: string, record: UpdateRecord): Promise<void> {
  await replaceFile(path, `${JSON.stringify(record)}\n`, 0o600)
}

async function readOutcome(stateDir: string): Promise<UpdateOutcome | undefined> {
  const text = await readTextIfPresent(updateOutcomePath(stateDir), OUTCOME_BYTES_MAX)
  return text === undefined ? undefined : parseOutcome(text)
}
