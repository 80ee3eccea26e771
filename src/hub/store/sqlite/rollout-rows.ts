import { invariant } from '../../../platform/errors.ts'
import type { CargoId, RolloutId } from '../../../protocol/identifiers.ts'
import { formatShare, parseShare, type Share } from '../../../protocol/rollout-share.ts'
import type { Freeze } from '../../domain/freeze.ts'
import type { Rollout, RolloutKind, RolloutSubject } from '../../domain/rollout.ts'
import { fromDate, type Instant, toDate } from './instants.ts'

export interface RolloutRow {
  readonly id: RolloutId
  readonly kind: RolloutKind
  /** These three of a carga. */
  readonly carga_id: CargoId | null
  readonly versao: number | null
  readonly sans: string | null
  readonly seletor: string | null
  readonly programa: string | null
  /** These two of roots. */
  readonly epoca: number | null
  readonly base: number | null
  readonly ondas: string
  readonly soak_ms: number
  readonly late_ms: number
  readonly max_failed: string
  readonly started_by: Rollout['startedBy']
  readonly created_at: Instant
  readonly state: Rollout['state']
  readonly changed_by: Rollout['changedBy']
  readonly reason: string | null
  readonly onda: number
  readonly opened_at: Instant
  readonly wanted: number
  readonly threshold: number | null
  readonly given: number
  readonly is_given: 0 | 1
  readonly cursor: string
  readonly open_ms: number
  readonly soaked_ms: number
  readonly tolerated: number
  readonly ended_at: Instant | null
}

export interface FreezeRow {
  readonly id: number
  readonly until: Instant
  readonly why: string
  readonly set_by: Freeze['setBy']
  readonly set_at: Instant
  readonly ended_at: Instant | null
}

export function toRollout(row: RolloutRow): Rollout {
  return {
    id: row.id,
    subject: toSubject(row),
    waves: (JSON.parse(row.ondas) as string[]).map(toShare),
    soakMs: row.soak_ms,
    lateMs: row.late_ms,
    maxFailed: toShare(row.max_failed),
    startedBy: row.started_by,
    createdAt: new Date(row.created_at),
    state: row.state,
    changedBy: row.changed_by,
    reason: row.reason,
    wave: row.onda,
    openedAt: new Date(row.opened_at),
    wanted: row.wanted,
    threshold: row.threshold,
    given: row.given,
    isGiven: row.is_given === 1,
    cursor: row.cursor,
    openMs: row.open_ms,
    soakedMs: row.soaked_ms,
    tolerated: row.tolerated,
    endedAt: toDate(row.ended_at),
  }
}

export function fromRollout(rollout: Rollout): RolloutRow {
  return {
    id: rollout.id,
    ...fromSubject(rollout.subject),
    ondas: JSON.stringify(rollout.waves.map(formatShare)),
    soak_ms: rollout.soakMs,
    late_ms: rollout.lateMs,
    max_failed: formatShare(rollout.maxFailed),
    started_by: rollout.startedBy,
    created_at: rollout.createdAt.getTime(),
    state: rollout.state,
    changed_by: rollout.changedBy,
    reason: rollout.reason,
    onda: rollout.wave,
    opened_at: rollout.openedAt.getTime(),
    wanted: rollout.wanted,
    threshold: rollout.threshold,
    given: rollout.given,
    is_given: rollout.isGiven ? 1 : 0,
    cursor: rollout.cursor,
    open_ms: rollout.openMs,
    soaked_ms: rollout.soakedMs,
    tolerated: rollout.tolerated,
    ended_at: fromDate(rollout.endedAt),
  }
}

type SubjectColumns = Pick<
  RolloutRow,
  'kind' | 'carga_id' | 'versao' | 'sans' | 'seletor' | 'programa' | 'epoca' | 'base'
>

const NO_SUBJECT: Omit<SubjectColumns, 'kind'> = {
  carga_id: null,
  versao: null,
  sans: null,
  seletor: null,
  programa: null,
  epoca: null,
  base: null,
}

function toSubject(row: SubjectColumns): RolloutSubject {
  const { kind, carga_id, versao, sans, seletor, programa, epoca, base } = row
  if (kind === 'rotation') return { kind, where: seletor }
  if (kind === 'update') {
    invariant(programa !== null, 'an update has its column')
    return { kind, version: programa, where: seletor }
  }
  invariant(versao !== null, 'a load and a set of roots have a number')
  if (kind === 'roots') {
    invariant(epoca !== null && base !== null, 'a set of roots has its columns')
    return { kind, epoch: epoca, number: versao, base }
  }
  invariant(carga_id !== null && sans !== null, 'a load has its columns')
  return { kind, cargoId: carga_id, version: versao, sans: JSON.parse(sans) as string[] }
}

function fromSubject(subject: RolloutSubject): SubjectColumns {
  const { kind } = subject
  if (kind === 'rotation') return { ...NO_SUBJECT, kind, seletor: subject.where }
  if (kind === 'roots') {
    const { epoch: epoca, number: versao, base } = subject
    return { ...NO_SUBJECT, kind, epoca, versao, base }
  }
  if (kind === 'update') {
    return { ...NO_SUBJECT, kind, programa: subject.version, seletor: subject.where }
  }
  const { cargoId, version, sans } = subject
  const load = { carga_id: cargoId, versao: version, sans: JSON.stringify(sans) }
  return { ...NO_SUBJECT, kind, ...load }
}

export function toFreeze(row: FreezeRow): Freeze {
  return {
    id: row.id,
    until: new Date(row.until),
    why: row.why,
    setBy: row.set_by,
    setAt: new Date(row.set_at),
    endedAt: toDate(row.ended_at),
  }
}

function toShare(text: string): Share {
  const share = parseShare(text)
  invariant(share !== undefined, 'the hub writes only shares that it reads')
  return share
}
