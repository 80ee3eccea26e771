// A log that somebody changed who holds the vault and its keys, and one checkpoint from before that somebody else kept.

import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { UnsealedVault } from '../../src/hub/vault/vault.ts'
import { describeError } from '../../src/platform/errors.ts'
import { makeQuickDirectory } from '../../test/simulation/quick-directory.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { applyMutation, listMutations, type Mutation } from '../support/log-mutations/mutations.ts'
import { type Finder, findFinders } from '../support/log-mutations/operator-commands.ts'
import { makeSampleLog, type SampleLog } from '../support/log-mutations/sample-log.ts'
import { pickInteger } from '../support/pick.ts'

export const logMutations: ReliabilityRow = {
  name: 'log mutations',
  promise: 'one checkpoint that somebody kept shows every change of the log before it',
  run: tryMutations,
}

/** Two subtrees of 256 entries and one of 512 are kept. */
const SIZES = { yesterday: 150, kept: 300, all: 530 }
const SMALL_ENTRIES = 30
/** Of each table that is not the log’s own, all. */
const isSmall = ({ table }: Mutation): boolean => table !== 'eventos'

async function tryMutations(context: RowContext): Promise<RowResult> {
  const { setting, random } = context
  const directory = await makeQuickDirectory('cartorio-reliability-log-')
  try {
    const log = await makeSampleLog(directory, SIZES)
    const broken: string[] = []
    const counts = new Map<string, number>()
    const count = (finders: ReadonlySet<Finder>): void => {
      for (const finder of finders) counts.set(finder, (counts.get(finder) ?? 0) + 1)
    }
    const honest = await findFinders(log.vault, log)
    if (honest.size > 0) broken.push(`an honest log: ${[...honest].join(', ')}`)
    const all = listMutations(log)
    const entries = all.filter((mutation) => !isSmall(mutation))
    const tried =
      setting === 'full' ? all : [...all.filter(isSmall), ...sample(entries, SMALL_ENTRIES, random)]
    for (const [at, mutation] of tried.entries()) {
      const finders = await mutate(log, join(directory, 'mutated'), mutation, broken)
      count(finders)
      if (at % 500 === 0) context.progress(`${at} of ${tried.length} changes`)
    }
    const old = await findFinders({ ...log.vault, ...placeOf(log.yesterday) }, log)
    count(old)
    for (const finder of ['start, outside', 'list --verify', 'export, verify'] as const) {
      if (!old.has(finder)) broken.push(`an old vault put back is not found by ${finder}`)
    }
    const found = [...counts].map(([finder, times]) => `${finder} ${times}`).join(', ')
    return {
      tried: `${tried.length} of ${all.length} changes by SQL, and an old vault: all found (${found})`,
      broken,
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function mutate(
  log: SampleLog,
  root: string,
  mutation: Mutation,
  broken: string[],
): Promise<ReadonlySet<Finder>> {
  await cp(log.vault.root, root, { recursive: true })
  const vault = { ...log.vault, ...placeOf(root) }
  try {
    applyMutation(vault, mutation)
    const finders = await findFinders(vault, log)
    const missed = findMissing(mutation, finders)
    if (missed !== undefined) broken.push(`${mutation.name}: ${missed}`)
    return finders
  } catch (error) {
    broken.push(`${mutation.name}: ${describeError(error)}`)
    return new Set()
  } finally {
    await rm(root, { recursive: true })
  }
}

/** What the start refuses, every command refuses. */
function findMissing(
  { table, isMadeAgain }: Mutation,
  finders: ReadonlySet<Finder>,
): string | undefined {
  if (finders.size === 0) return 'nothing finds it'
  if (finders.has('start')) return undefined
  const demanded: readonly Finder[] =
    table === 'eventos'
      ? ['list --verify', 'export, verify', ...(isMadeAgain ? (['start, outside'] as const) : [])]
      : []
  const missed = demanded.filter((finder) => !finders.has(finder))
  return missed.length === 0 ? undefined : `not found by ${missed.join(', ')}`
}

function placeOf(root: string): Pick<UnsealedVault, 'root' | 'databasePath'> {
  return { root, databasePath: join(root, 'db.enc') }
}

function sample(
  mutations: readonly Mutation[],
  count: number,
  random: () => number,
): readonly Mutation[] {
  const left = [...mutations]
  return Array.from({ length: count }, () =>
    left.splice(pickInteger(random, 0, left.length - 1), 1),
  ).flat()
}
