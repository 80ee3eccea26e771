// What a unit's SystemCallFilter= lets through, by the groups that systemd itself knows (systemd.exec(5)).

import { runTool } from '../../support/processes.ts'
import type { UnitFile } from './unit-file.ts'

/** What is let through besides: always allowed in an allow list. */
const IMPLICIT = '@default'

/** Those of `systemCalls` that would be refused. */
export async function findRefusedCalls(
  unit: UnitFile,
  systemCalls: readonly string[],
): Promise<string[]> {
  const groups = parseGroups(await runTool('systemd-analyze', ['syscall-filter', '--no-pager']))
  const allowed = allowedCalls(unit.all('SystemCallFilter'), groups)
  return systemCalls.filter((name) => !allowed.has(name))
}

export type SystemCallGroups = ReadonlyMap<string, readonly string[]>

/** A first line without `~` makes it a list of what is allowed; what later lines name comes or goes. */
export function allowedCalls(lines: readonly string[], groups: SystemCallGroups): Set<string> {
  const allowed = new Set(expand(IMPLICIT, groups))
  for (const line of lines) {
    const isDenied = line.startsWith('~')
    for (const name of line.replace('~', '').split(/\s+/)) {
      for (const call of expand(name, groups)) {
        if (isDenied) allowed.delete(call)
        else allowed.add(call)
      }
    }
  }
  return allowed
}

/** Each group's name stands alone, its members are indented below it; they may be groups again. */
export function parseGroups(text: string): SystemCallGroups {
  const groups = new Map<string, string[]>()
  let members: string[] = []
  for (const line of text.split('\n')) {
    const name = line.trim()
    if (line.startsWith('@')) groups.set(name, (members = []))
    else if (line.startsWith('    ') && /^@?[a-z0-9_-]+$/.test(name)) members.push(name)
  }
  return groups
}

function expand(name: string, groups: SystemCallGroups): string[] {
  const members = groups.get(name)
  return members === undefined ? [name] : members.flatMap((member) => expand(member, groups))
}
