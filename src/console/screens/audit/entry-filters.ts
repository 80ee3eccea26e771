// Which entries a screen is about, as its URL says it: what the hub is asked for, and the command of `svc` that lists the same.

import type { AdminRequest } from '../../api/operations.ts'
import { PRESENCE } from '../../api/presence.ts'
import { isRoutine } from '../../../protocol/routine-events.ts'
import { svc } from '../../commands/svc.ts'

export interface EntryFilters {
  /** Hostname or id of an agent: what it sent, and what was done to it. */
  readonly about: string | undefined
  /** An actor, or one of the groups. */
  readonly who: string | undefined
  readonly types: readonly string[]
  /** Times in UTC, as ISO 8601 has them, or what somebody wrote in the URL: the hub refuses what is none. */
  readonly from: string | undefined
  readonly until: string | undefined
  readonly isRoutineShown: boolean
}

export type EntryQuery = Readonly<Record<string, string>>
type EntryRequest = Omit<
  AdminRequest<'listEntries'>,
  'after' | 'before' | 'limit' | 'last' | 'tipo' | 'agente'
>

export const PEOPLE = 'people'
export const HOSTS = 'hosts'
const TYPES_MAX = 32

export function readFilters(query: EntryQuery): EntryFilters {
  const types = (query['type'] ?? '').split(',').filter((type) => type !== '')
  return {
    about: fieldOf(query, 'about'),
    who: fieldOf(query, 'who'),
    types: types.slice(0, TYPES_MAX),
    from: fieldOf(query, 'from'),
    until: fieldOf(query, 'until'),
    isRoutineShown: query['routine'] === 'true',
  }
}

/** The same, as the URL has it: what is left out is undefined. */
export function toQuery(filters: EntryFilters): Readonly<Record<string, string | undefined>> {
  const { about, who, types, from, until, isRoutineShown } = filters
  return {
    about,
    who,
    type: types.length === 0 ? undefined : types.join(','),
    from,
    until,
    routine: isRoutineShown ? 'true' : undefined,
  }
}

export function toRequest(filters: EntryFilters): EntryRequest {
  const { about, who, types, from, until, isRoutineShown } = filters
  const isGroup = who === PEOPLE || who === HOSTS
  return {
    ...(about !== undefined && { about }),
    ...(isGroup && { by: who }),
    ...(who !== undefined && !isGroup && { actor: who }),
    ...(types.length > 0 && { tipos: [...types] }),
    ...(from !== undefined && { since: from }),
    ...(until !== undefined && { until }),
    ...(!isRoutineShown && { routine: false }),
  }
}

/** Whether an entry of this type can be one of those that are asked for. */
export function mayMatch({ types, isRoutineShown }: EntryFilters, tipo: string): boolean {
  if (tipo === PRESENCE || (!isRoutineShown && isRoutine(tipo))) return false
  return types.length === 0 || types.includes(tipo)
}

export function isFiltered({ about, who, types, from, until }: EntryFilters): boolean {
  return (about ?? who ?? from ?? until) !== undefined || types.length > 0
}

export function toCommand(filters: EntryFilters): string {
  const { about, who, types, from, until, isRoutineShown } = filters
  const isGroup = who === PEOPLE || who === HOSTS
  return svc.listEntries({
    about,
    ...(isGroup ? { by: who } : { actor: who }),
    tipo: types,
    since: from,
    until,
    'no-routine': !isRoutineShown,
  })
}

function fieldOf(query: EntryQuery, name: string): string | undefined {
  const value = query[name]?.trim()
  return value === undefined || value === '' ? undefined : value
}
