// What somebody typed into the forms of cargo, as requests of the hub; and from the hub's rehearsal, who gets it.

import type { AdminRehearsal, AdminRequest } from '../../api/operations.ts'
import { findNoName, readLines } from '../../parts/read-lines.ts'

export const WHOM = ['agentes', 'roles', 'where', 'unassigned'] as const
export type Whom = (typeof WHOM)[number]

/** Names, one a line, or with commas or spaces between them. */
export function readNames(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/u).filter((name) => name !== ''))]
}

/** A line that names no host and no role; a selector is one text. */
export function findFaultyLine({ whom, hosts }: Pick<Draft, 'whom' | 'hosts'>): string | undefined {
  return whom === 'agentes' || whom === 'roles' ? findNoName(readLines(hosts)) : undefined
}

export interface Draft {
  readonly nome: string
  readonly whom: Whom
  readonly hosts: string
  readonly names: string
}

/** Undefined while something that the hub needs is not there yet. */
export function readDraft({
  nome,
  whom,
  hosts,
  names,
}: Draft): AdminRequest<'createCargo'> | undefined {
  const listed = readLines(hosts)
  const isWhomKnown = whom === 'unassigned' || listed.length > 0
  if (nome.trim() === '' || !isWhomKnown) return undefined
  if (findFaultyLine({ whom, hosts }) !== undefined) return undefined
  return {
    tipo: 'csr_cert',
    nome: nome.trim(),
    agentes: whom === 'agentes' ? listed : [],
    roles: whom === 'roles' ? listed : [],
    sans: readNames(names),
    ...(whom === 'where' && { where: hosts.trim() }),
    ...(whom === 'unassigned' && { unassigned: true }),
  }
}

export interface Recipients {
  readonly total: number
  /** The hub names so many as fit an entry. */
  readonly hostnames: readonly string[]
}

/** Of the entry that the hub would write: the names of at most 250 hosts, else how many there are. */
export function findRecipients({ acts }: AdminRehearsal): Recipients {
  for (const { payload } of acts) {
    const { agentes, agentes_total: total } = payload
    if (Array.isArray(agentes)) {
      return { total: agentes.length, hostnames: agentes.map(String) }
    }
    if (typeof total === 'number') return { total, hostnames: [] }
  }
  return { total: 0, hostnames: [] }
}

export interface WavesDraft {
  readonly waves: string
  readonly soakMinutes: string
  readonly maxFailed: string
  readonly lateMinutes: string
}

export const WAVES_DRAFT: WavesDraft = {
  waves: '1, 10%, 50%, 100%',
  soakMinutes: '10',
  maxFailed: '0',
  lateMinutes: '60',
}

type Rules = Pick<
  AdminRequest<'startRollout'>,
  'waves' | 'soak_seconds' | 'max_failed' | 'late_seconds'
>

/** Undefined while a number is none; what sizes mean is the hub's to say. */
export function readWaves(draft: WavesDraft): Rules | undefined {
  const waves = readNames(draft.waves)
  const soak = readMinutes(draft.soakMinutes)
  const late = readMinutes(draft.lateMinutes)
  if (waves.length === 0 || soak === undefined || late === undefined) return undefined
  return {
    waves,
    soak_seconds: soak,
    max_failed: draft.maxFailed.trim() === '' ? '0' : draft.maxFailed.trim(),
    late_seconds: late,
  }
}

function readMinutes(text: string): number | undefined {
  const minutes = Number(text.trim())
  return text.trim() === '' || !Number.isFinite(minutes) || minutes < 0
    ? undefined
    : Math.round(minutes * 60)
}

export interface PlannedWave {
  readonly wave: string
  readonly hosts: number
}

/** Of the entry `rollout_started`. */
export function findPlan({ acts }: AdminRehearsal): PlannedWave[] {
  for (const { payload } of acts) {
    const { waves } = payload
    if (Array.isArray(waves)) return waves as PlannedWave[]
  }
  return []
}
