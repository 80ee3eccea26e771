// What an entry changed: its payload against that of the entry before it on the same subject, line by line.

export interface EarlierAct {
  /** Entries of these types speak of the same subject when this field is equal. */
  readonly types: readonly string[]
  readonly field: string
}

/** Of acts whose payload says all that holds after them. */
const EARLIER: Readonly<Record<string, EarlierAct>> = {
  politica_set: { types: ['politica_set', 'politica_removed'], field: 'role' },
  carga_updated: { types: ['carga_created', 'carga_updated'], field: 'carga_id' },
  carga_selected: { types: ['carga_selected'], field: 'carga_id' },
  recipient_changed: { types: ['recipient_changed'], field: 'agente_id' },
}

export function earlierActOf(type: string): EarlierAct | undefined {
  return Object.hasOwn(EARLIER, type) ? EARLIER[type] : undefined
}

export interface ChangedLine {
  readonly kind: 'field' | 'same' | 'added' | 'removed'
  readonly text: string
}

type Payload = Readonly<Record<string, unknown>>

const LINES_MAX = 60
const TEXT_MAX = 300
/** Who did it and how it was tried is no part of what holds. */
const ASIDE: ReadonlySet<string> = new Set(['actor', 'trial'])

/** Fields that are equal are left out; of a list, what stays is shown too. */
export function comparePayloads(before: Payload, after: Payload): readonly ChangedLine[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const lines = fields
    .filter((field) => !ASIDE.has(field) && !isEqual(before[field], after[field]))
    .flatMap((field): ChangedLine[] => [
      { kind: 'field', text: shorten(field) },
      ...compareValues(before[field], after[field]),
    ])
  return lines.slice(0, LINES_MAX)
}

function compareValues(before: unknown, after: unknown): ChangedLine[] {
  const [old, present] = [listOf(before), listOf(after)]
  const removed = old.filter((text) => !present.includes(text))
  return [
    ...removed.map((text) => ({ kind: 'removed', text }) as const),
    ...present.map((text) => ({ kind: old.includes(text) ? 'same' : 'added', text }) as const),
  ]
}

function listOf(value: unknown): string[] {
  if (value === undefined) return []
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map(textOf)
}

function textOf(value: unknown): string {
  return shorten(typeof value === 'string' ? value : JSON.stringify(value))
}

function shorten(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
