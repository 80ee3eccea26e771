// A plan as a person reads it: a line for each object, and below it a line for each field.

import type { AdminFleetChange, AdminFleetPlan } from '../../protocol/admin/declared.ts'
import { FLEET_TABLES } from './fleet-schema.ts'

const SIGNS: Readonly<Record<AdminFleetChange['action'], string>> = {
  create: '+',
  update: '~',
  remove: '-',
  own: '=',
  todo: '!',
}

/** Whether the fleet is another one than the files say; who owns what is no difference. */
export function hasDifference({ changes }: Pick<AdminFleetPlan, 'changes'>): boolean {
  return changes.some(({ action }) => action !== 'own')
}

/** Whether an apply would do anything. */
export function hasWork({ changes }: Pick<AdminFleetPlan, 'changes'>): boolean {
  return changes.some(({ action }) => action !== 'todo')
}

export function renderPlan(plan: AdminFleetPlan, manager: string, isPruning: boolean): string {
  const { changes, unlisted } = plan
  const owns = changes.filter(({ action }) => action === 'own')
  const lines = changes.filter(({ action }) => action !== 'own').flatMap(renderChange)
  if (owns.length > 0) lines.push(...renderOwned(owns, manager))
  if (unlisted.length > 0) {
    lines.push(`No longer in the files, and left alone${isPruning ? '' : '; --prune removes it'}:`)
    for (const { kind, name, field } of unlisted) {
      lines.push(`  ${wordOf(kind)} ${name}${field === null ? '' : `: ${fieldWord(kind, field)}`}`)
    }
  }
  return `${[...lines, summarise(plan)].join('\n')}\n`
}

export function summarise({ changes }: Pick<AdminFleetPlan, 'changes'>): string {
  if (changes.every(({ action }) => action === 'own')) {
    return 'Nothing to do: the fleet is as the files say.'
  }
  const count = (action: AdminFleetChange['action']): number =>
    changes.filter((change) => change.action === action).length
  const todo = count('todo')
  const rest = todo === 0 ? '' : `, ${todo} for somebody to do by hand`
  return `Plan: ${count('create')} to make, ${count('update')} to change, ${count('remove')} to remove${rest}.`
}

function renderChange({ kind, name, action, fields, todo }: AdminFleetChange): string[] {
  const table = FLEET_TABLES.find((each) => each.kind === kind)
  const head = `${SIGNS[action]} ${wordOf(kind)} ${name}`
  return [
    todo === null ? head : `${head}: ${todo}`,
    ...fields.map(({ field, before, after, owner, todo: byHand }) => {
      const key = table?.keys.find(({ wire }) => wire === field)
      const say = (value: unknown): string => show(key?.write?.(value) ?? value)
      const change = action === 'create' ? say(after) : `${say(before)} -> ${say(after)}`
      const whose = owner === null ? '' : `  (owned by ${owner}: --take-over)`
      const hint = byHand === null ? '' : `  (${byHand})`
      return `    ${key?.words[0] ?? field}: ${action === 'remove' ? say(before) : change}${whose}${hint}`
    }),
  ]
}

function renderOwned(owns: readonly AdminFleetChange[], manager: string): string[] {
  const lines = owns.map(({ kind, name, takes, takes_object, releases }) => {
    const list = (fields: readonly string[]): string =>
      fields.length === 0 ? 'it' : fields.map((field) => fieldWord(kind, field)).join(', ')
    const taken = takes_object || takes.length > 0 ? [`${manager} takes ${list(takes)}`] : []
    const released = releases.length > 0 ? [`${manager} lets go of ${list(releases)}`] : []
    return `  ${wordOf(kind)} ${name}: ${[...taken, ...released].join(', ')}`
  })
  return ['Only who owns it changes:', ...lines]
}

function fieldWord(kind: AdminFleetChange['kind'], field: string): string {
  const table = FLEET_TABLES.find((each) => each.kind === kind)
  return table?.keys.find(({ wire }) => wire === field)?.words[0] ?? field
}

function wordOf(kind: AdminFleetChange['kind']): string {
  return FLEET_TABLES.find((each) => each.kind === kind)?.words[0] ?? kind
}

function show(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return `[${value.map(String).join(', ')}]`
  if (typeof value === 'object') {
    const pairs = Object.entries(value).map(([key, each]) => `${key}=${String(each)}`)
    return `{${pairs.join(', ')}}`
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}
