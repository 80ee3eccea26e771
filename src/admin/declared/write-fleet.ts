// A declaration as files that say the same: what `readFleet` reads of them is what was written.

import { stringify as stringifyToml } from 'smol-toml'
import { stringify as stringifyYaml } from 'yaml'
import type { FleetDeclaration } from '../../protocol/admin/declared.ts'
import { FLEET_TABLES, type FleetTable } from './fleet-schema.ts'
import type { FleetForm } from './parse-fleet-text.ts'

export interface WrittenFile {
  /** Without its ending. */
  readonly name: string
  readonly text: string
}

/** One for each kind that there is something of. */
export function writeFleet(declaration: FleetDeclaration, form: FleetForm): WrittenFile[] {
  return FLEET_TABLES.flatMap((table) => {
    const objects = (declaration[table.plural] ?? []) as readonly Record<string, unknown>[]
    if (objects.length === 0) return []
    const [word] = table.words
    const value = { [word]: objects.map((object) => toFile(table, object)) }
    const text = form === 'toml' ? stringifyToml(value) : stringifyYaml(value, { lineWidth: 0 })
    return { name: word, text: text.endsWith('\n') ? text : `${text}\n` }
  })
}

function toFile(table: FleetTable, object: Readonly<Record<string, unknown>>) {
  const entries = table.keys
    .filter(({ wire }) => object[wire] !== undefined)
    .map(({ words, wire, write }) => [words[0], write?.(object[wire]) ?? object[wire]])
  return Object.fromEntries(entries) as Record<string, unknown>
}
