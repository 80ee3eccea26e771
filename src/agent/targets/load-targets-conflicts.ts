// What no target is wrong about by itself: two that write one file, or want different keys for one delivery.

import { quote } from './parse-targets-table.ts'
import type { Target, TargetProblem } from './target.ts'

/** Both sides of each conflict, so that neither is applied. */
export function findConflicts(targets: readonly Target[]): TargetProblem[] {
  const writers = groupTargets(targets, ({ files }) => files.map(({ path }) => path))
  const pairs = targets.filter(({ artefact }) => artefact === 'pair')
  const namesakes = groupTargets(pairs, ({ name }) => [name])
  return targets.flatMap((target) => {
    const pathConflicts = target.files.flatMap(({ path, line }) => {
      const other = writers.get(path)?.find((writer) => writer !== target)
      return other === undefined ? [] : [pathConflict(target, line, path, other)]
    })
    const other =
      target.artefact === 'pair'
        ? namesakes.get(target.name)?.find((one) => one.keyType !== target.keyType)
        : undefined
    return other === undefined ? pathConflicts : [keyTypeConflict(target, other), ...pathConflicts]
  })
}

function groupTargets(
  targets: readonly Target[],
  keysOf: (target: Target) => readonly string[],
): Map<string, Target[]> {
  const groups = new Map<string, Target[]>()
  for (const target of targets) {
    for (const key of keysOf(target)) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [target])
      else group.push(target)
    }
  }
  return groups
}

function pathConflict({ source }: Target, line: number, path: string, other: Target) {
  return { source, line, reason: `${quote(path)} is also a file of ${other.source}` }
}

function keyTypeConflict({ source, name, keyType }: Target, other: Target) {
  const reason = `key_type of ${name} is ${keyType} here and ${other.keyType} in ${other.source}`
  return { source, line: undefined, reason }
}
