// A plan as a person reads it: a line for each object, and below it a line for each field.

import type { AdminFleetChange, AdminFleetPlan } from '../../protocol/admin/declared.ts'
import type { Language } from '../../protocol/spoken-words.ts'
import { FLEET_TABLES, type FleetKey, type FleetTable } from './fleet-schema.ts'

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

export interface PlanStyle {
  readonly language: Language
  readonly manager: string
  readonly isPruning: boolean
}

export function renderPlan(plan: AdminFleetPlan, style: PlanStyle): string {
  const words = new PlanWords(style.language)
  const { changes, unlisted } = plan
  const owns = changes.filter(({ action }) => action === 'own')
  const others = changes.filter(({ action }) => action !== 'own')
  const lines = others.flatMap((change) => renderChange(words, change))
  if (owns.length > 0) {
    lines.push('Only who owns it changes:')
    lines.push(...owns.map((change) => renderOwned(words, change, style.manager)))
  }
  if (unlisted.length > 0) {
    const hint = style.isPruning ? '' : '; --prune removes it'
    lines.push(`No longer in the files, and left alone${hint}:`)
    for (const { kind, name, field } of unlisted) {
      const what = field === null ? '' : `: ${words.ofField(kind, field)}`
      lines.push(`  ${words.ofKind(kind)} ${name}${what}`)
    }
  }
  return `${[...lines, summarise(plan)].join('\n')}\n`
}

function summarise({ changes }: Pick<AdminFleetPlan, 'changes'>): string {
  if (changes.every(({ action }) => action === 'own')) {
    return 'Nothing to do: the fleet is as the files say.'
  }
  const count = (action: AdminFleetChange['action']): number =>
    changes.filter((change) => change.action === action).length
  const todo = count('todo')
  const rest = todo === 0 ? '' : `, ${todo} for somebody to do by hand`
  return `Plan: ${count('create')} to make, ${count('update')} to change, ${count('remove')} to remove${rest}.`
}

function renderChange(
  words: PlanWords,
  { kind, name, action, fields, todo }: AdminFleetChange,
): string[] {
  const head = `${SIGNS[action]} ${words.ofKind(kind)} ${name}`
  return [
    todo === null ? head : `${head}: ${todo}`,
    ...fields.map(({ field, before, after, owner, todo: byHand }) => {
      const say = (value: unknown): string => show(keyOf(kind, field)?.write?.(value) ?? value)
      const values = { create: say(after), remove: say(before) }
      const change = values[action as keyof typeof values] ?? `${say(before)} -> ${say(after)}`
      const whose = owner === null ? '' : `  (owned by ${owner}: --take-over)`
      const hint = byHand === null ? '' : `  (${byHand})`
      return `    ${words.ofField(kind, field)}: ${change}${whose}${hint}`
    }),
  ]
}

function renderOwned(
  words: PlanWords,
  { kind, name, takes, takes_object, releases }: AdminFleetChange,
  manager: string,
): string {
  const list = (fields: readonly string[]): string =>
    fields.length === 0 ? 'it' : fields.map((field) => words.ofField(kind, field)).join(', ')
  const taken = takes_object || takes.length > 0 ? [`${manager} takes ${list(takes)}`] : []
  const released = releases.length > 0 ? [`${manager} lets go of ${list(releases)}`] : []
  return `  ${words.ofKind(kind)} ${name}: ${[...taken, ...released].join(', ')}`
}

/** Of kinds and fields, as files have them in the reader's language. */
class PlanWords {
  readonly #at: 0 | 1
  constructor(language: Language) {
    this.#at = language === 'pt' ? 1 : 0
  }

  ofKind(kind: AdminFleetChange['kind']): string {
    return this.#choose(tableOf(kind)?.words) ?? kind
  }

  ofField(kind: AdminFleetChange['kind'], field: string): string {
    return this.#choose(keyOf(kind, field)?.words) ?? field
  }

  #choose(words: readonly string[] | undefined): string | undefined {
    return words?.[this.#at] ?? words?.[0]
  }
}

function tableOf(kind: AdminFleetChange['kind']): FleetTable | undefined {
  return FLEET_TABLES.find((each) => each.kind === kind)
}

function keyOf(kind: AdminFleetChange['kind'], field: string): FleetKey | undefined {
  return tableOf(kind)?.keys.find(({ wire }) => wire === field)
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
