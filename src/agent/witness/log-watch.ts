// The agent as a witness of the hub's audit log: it remembers what it was shown, has the hub prove that the log has only grown, and
// raises the alarm when it has not. It goes on working. docs/protocol.md CHN-22 to CHN-26.

import { hash } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import type { Clock } from '../../platform/clock.ts'
import { errnoCode } from '../../platform/errors.ts'
import { readTextIfPresent, replaceFile, syncDirectory } from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { uuidOfHex } from '../../platform/time-ordered-uuid.ts'
import { parseJson } from '../../platform/parse-json.ts'
import type { RetrySchedule } from '../hub/backoff.ts'
import type { HubBudget } from '../hub/budget.ts'
import type { Outbox } from '../hub/outbox.ts'
import { logAlarm, logEpochAdopted } from '../hub/wire.ts'
import type { AgentPaths } from '../settings/paths.ts'
import { checkLog, type LogFinding, type WitnessedHub } from './check-log.ts'
import {
  checkpointOf,
  isSound,
  isUnprovenTooLong,
  LogWitness,
  noteUnproven,
  proven,
} from './log-witness.ts'
import { findReplacedHub } from './replaced-hub.ts'

/** What is held against the hub, with all that proves it. */
export const LogAlarm = Type.Object({
  at: Type.String(),
  reason: Type.String(),
  /** Of the log, and the checkpoint that the agent had seen; null when it had seen none. */
  key: Type.Union([Type.String(), Type.Null()]),
  seen: Type.Union([Type.String(), Type.Null()]),
  /** One that came after it, signed, and not proven when the alarm was raised. */
  ahead: Type.Optional(Type.String()),
  /** The checkpoint that contradicts it, null when the hub shows none, and how the hub says that its epochs began. */
  shown: Type.Union([Type.String(), Type.Null()]),
  epochs: Type.Array(Type.String()),
})
export type LogAlarm = Static<typeof LogAlarm>
const LogAlarms = Type.Array(LogAlarm)

export interface KnownLog {
  readonly witness: LogWitness | undefined
  /** The oldest first. */
  readonly alarms: readonly LogAlarm[]
}

/** What it is called in the schedule. */
export const LOG_RETRIES = 'the log'
const ALARMS_MAX = 10
const WITNESS_BYTES_MAX = 4 * 1024 * 1024
/** Room for ten of what a hub can answer at most (LIMITS), however it is escaped. */
const ALARMS_BYTES_MAX = 16 * 1024 * 1024
const MODE = 0o600
const UNPROVEN = 'the hub answers, and has shown or proven nothing new of its log for a day'
const UNPROVEN_SPACING_MS = 600_000
/** A hub signs what it records within a second or two. */
const SIGNED_MS_MAX = 600_000

/** What the agent keeps on disk. A file that is damaged counts as none: the agent then meets the log as for the first time. */
export async function readKnownLog(
  paths: Pick<AgentPaths, 'logWitnessFile' | 'logAlarmsFile'>,
): Promise<KnownLog> {
  const witness = parseJson(
    (await readTextIfPresent(paths.logWitnessFile, WITNESS_BYTES_MAX)) ?? '',
  )
  const alarms = parseJson((await readTextIfPresent(paths.logAlarmsFile, ALARMS_BYTES_MAX)) ?? '')
  return {
    witness: Check(LogWitness, witness) && isSound(witness) ? witness : undefined,
    alarms: Check(LogAlarms, alarms) ? alarms : [],
  }
}

export interface LogDescription {
  readonly state: 'good' | 'alarm' | 'unknown'
  /** Of the log: its name, and how many entries the newest checkpoint that the agent checked was signed for. */
  readonly origin: string | null
  readonly entries: number | null
  /** When the hub last proved that its log goes on. */
  readonly checked_at: string | null
  /** Why the agent raised the alarm, the newest first. */
  readonly alarms: readonly { readonly at: string; readonly reason: string }[]
}

export function describeKnownLog({ witness, alarms }: KnownLog): LogDescription {
  const checkpoint = witness && checkpointOf(witness.newest.note)
  return {
    state: alarms.length > 0 ? 'alarm' : witness === undefined ? 'unknown' : 'good',
    origin: checkpoint?.origin ?? null,
    entries: checkpoint?.size ?? null,
    checked_at: witness?.checked_at ?? null,
    alarms: alarms.map(({ at, reason }) => ({ at, reason })).toReversed(),
  }
}

/** What the agent meets next is a log that it does not know: of another hub, or of one that somebody looked into. Answers what was set aside. */
export async function setKnownLogAside(
  paths: Pick<AgentPaths, 'logWitnessFile' | 'logAlarmsFile' | 'receiptsFile'>,
  now: Date,
): Promise<string[]> {
  const aside: string[] = []
  // The alarms last: what is left half way is still an alarm.
  for (const path of [paths.receiptsFile, paths.logWitnessFile, paths.logAlarmsFile]) {
    const target = `${path}.${now.toISOString().replaceAll(':', '')}`
    try {
      await rename(path, target)
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') continue
      throw error
    }
    aside.push(target)
  }
  if (aside.length > 0) await syncDirectory(dirname(paths.logWitnessFile))
  return aside
}

export interface LogWatchContext {
  readonly hub: WitnessedHub
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly retries: Pick<RetrySchedule, 'isDue' | 'recordFailure' | 'clear'>
  readonly clock: Clock
  readonly log: Logger
  /** Before the agent keeps that the log goes on in another epoch: the hub has lost something. */
  readonly onEpoch: () => Promise<void>
}

export class LogWatch {
  readonly #paths: Pick<AgentPaths, 'logWitnessFile' | 'logAlarmsFile'>
  #known: KnownLog
  #shown: string | undefined
  /** Of the answers since the last check. */
  #isShown = false
  #isSilent = false
  #isHubReplaced = false
  #eventMs = Number.NEGATIVE_INFINITY
  #unprovenMs = Number.NEGATIVE_INFINITY

  constructor(paths: Pick<AgentPaths, 'logWitnessFile' | 'logAlarmsFile'>, known: KnownLog) {
    this.#paths = paths
    this.#known = known
  }

  get known(): KnownLog {
    return this.#known
  }

  /** Whether the newest answer came from a hub that was replaced. */
  get isHubReplaced(): boolean {
    return this.#isHubReplaced
  }

  /**
   * A signed note, as the newest answer of the hub has it; undefined of a good answer that shows none. Throws ReplacedHubError for an
   * answer of which nothing counts.
   */
  noteCheckpoint(note: string | undefined): void {
    if (note === undefined) {
      this.#isSilent = true
      return
    }
    const replaced = findReplacedHub(this.#known.witness, note)
    this.#isHubReplaced = replaced !== undefined
    if (replaced !== undefined) throw replaced
    this.#shown = note
    this.#isShown = true
  }

  /** The hub has recorded an event of the agent: checkpoints from then on have one entry more. */
  noteEvent(at: Date): void {
    // The first one that is missing counts.
    if (!this.#isEventMissing()) this.#eventMs = at.getTime()
  }

  /** Asks nothing while the hub shows nothing new, and at most once an hour while all is well. */
  async check(context: LogWatchContext, budget: HubBudget): Promise<void> {
    const { hub, retries, clock } = context
    const shown = this.#shown
    const [isShown, isSilent] = [this.#isShown, this.#isSilent]
    this.#isShown = false
    this.#isSilent = false
    // Somebody may have set them aside.
    if (this.#known.alarms.length > 0) this.#known = await readKnownLog(this.#paths)
    if (isSilent && !isShown) return this.#noteUnproven(context, budget, null)
    const { witness } = this.#known
    if (shown === undefined || !budget.isOpen) return
    if (shown === witness?.newest.note) return this.#noteShown(context, budget, shown)
    if (!retries.isDue(LOG_RETRIES, clock.now())) return
    let finding: LogFinding
    try {
      finding = await checkLog(witness, shown, hub, clock.now())
    } catch (error) {
      // A hub that answers everything but this; one that is gone has shown nothing in this round.
      if (isShown) await this.#noteUnproven(context, budget, shown)
      throw error
    }
    if (finding.kind === 'not answered') {
      retries.recordFailure(LOG_RETRIES, clock.now(), finding.refusal.retryAfterMs)
      budget.noteRefusal(finding.refusal)
      if (isShown) await this.#noteUnproven(context, budget, shown)
    } else if (finding.kind === 'alarm') {
      // Again after a while: what is wrong stays wrong, and costs the hub little.
      retries.recordFailure(LOG_RETRIES, clock.now())
      await this.#raise(context, budget, finding)
    } else {
      retries.clear(LOG_RETRIES)
      if (finding.witness === witness) await this.#noteShown(context, budget, shown)
      else await this.#follow(context, finding)
    }
  }

  async #follow(
    { outbox, log, onEpoch }: LogWatchContext,
    { witness: next, epoch }: Extract<LogFinding, { kind: 'good' }>,
  ): Promise<void> {
    if (epoch !== undefined) {
      await onEpoch()
      const { origin, size } = epoch
      log.warn({ origin, entries: size }, 'The hub’s audit log goes on in another epoch')
      // The same id after a crash in between: one event for an epoch.
      const requestId = uuidOfHex(hash('sha256', `${origin} ${next.key}`))
      await outbox.enqueue(logEpochAdopted({ origem: origin, entradas: size }), requestId)
    }
    await this.#keepWitness(next)
  }

  /** Nothing new. A hub that shows an agent the same for ever could else rewrite all that came after it. */
  async #noteShown(context: LogWatchContext, budget: HubBudget, shown: string): Promise<void> {
    const agoMs = context.clock.now().getTime() - this.#eventMs
    if (this.#isEventMissing() && agoMs > SIGNED_MS_MAX) {
      return this.#noteUnproven(context, budget, shown)
    }
    const { witness } = this.#known
    if (witness?.unproven !== undefined) await this.#keepWitness(proven(witness))
  }

  /** Whether the longest checkpoint that the agent knows is older than what it sent. */
  #isEventMissing(): boolean {
    const { ahead, newest } = this.#known.witness ?? {}
    return this.#eventMs > Date.parse((ahead ?? newest)?.at ?? '')
  }

  /** A hub that is not asked, or that refuses, could else rewrite its log and be believed for ever. */
  async #noteUnproven(
    context: LogWatchContext,
    budget: HubBudget,
    shown: string | null,
  ): Promise<void> {
    const { witness } = this.#known
    const now = context.clock.now()
    if (witness === undefined || Math.abs(now.getTime() - this.#unprovenMs) < UNPROVEN_SPACING_MS) {
      return
    }
    this.#unprovenMs = now.getTime()
    const next = noteUnproven(witness, now)
    await this.#keepWitness(next)
    if (!isUnprovenTooLong(next, now)) return
    await this.#raise(context, budget, { reason: UNPROVEN, shown, epochs: [] })
  }

  async #raise(
    { outbox, clock, log }: LogWatchContext,
    budget: HubBudget,
    found: Pick<LogAlarm, 'reason' | 'shown'> & { readonly epochs: readonly string[] },
  ): Promise<void> {
    const { reason, shown, epochs } = found
    const { witness } = this.#known
    budget.noteProblem(`the hub’s audit log: ${reason}`)
    log.error({ reason, file: this.#paths.logAlarmsFile }, 'The hub’s audit log is not what it was')
    const alarm = {
      at: clock.now().toISOString(),
      reason,
      key: witness?.key ?? null,
      seen: witness?.newest.note ?? null,
      ...(witness?.ahead && { ahead: witness.ahead.note }),
      shown,
      epochs: [...epochs],
    }
    await this.#keepAlarm(alarm, outbox)
  }

  async #keepWitness(witness: LogWitness): Promise<void> {
    await replaceFile(this.#paths.logWitnessFile, `${JSON.stringify(witness)}\n`, MODE)
    this.#known = { ...this.#known, witness }
  }

  /** Once for each reason, whatever the numbers in it: a log that was put back grows, and is one incident. */
  async #keepAlarm(alarm: LogAlarm, outbox: Pick<Outbox, 'enqueue'>): Promise<void> {
    const { alarms } = this.#known
    if (
      alarms.length >= ALARMS_MAX ||
      alarms.some(({ reason }) => isSameKind(reason, alarm.reason))
    )
      return
    const kept = [...alarms, alarm]
    await replaceFile(this.#paths.logAlarmsFile, `${JSON.stringify(kept, null, 2)}\n`, MODE)
    this.#known = { ...this.#known, alarms: kept }
    await outbox.enqueue(logAlarm({ motivo: alarm.reason }))
  }
}

function isSameKind(one: string, other: string): boolean {
  return one.replaceAll(/\d+/g, '') === other.replaceAll(/\d+/g, '')
}
