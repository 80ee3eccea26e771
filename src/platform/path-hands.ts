// In whose hands a path is: who else than root could make it mean something else, from one moment to the next.

import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { errnoCode, UserError } from './errors.ts'

export interface PathHands {
  /** What is there now, links followed; undefined when there is nothing. */
  readonly end: Stats | undefined
  /** The users besides root who may rename, remove or redirect any step of the way. */
  readonly hands: ReadonlySet<number | 'anyone'>
}

const LINKS_MAX = 40
const STICKY = 0o1000
const OTHERS_WRITE = 0o022

/** Walks to an absolute path as the kernel would. */
export function findPathHands(path: string): PathHands {
  const hands = new Set<number | 'anyone'>()
  const steps = stepsOf(path)
  let current = '/'
  let end: Stats = lstatSync(current)
  let links = 0
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    if (step === '..') {
      current = dirname(current)
      end = lstatSync(current)
      continue
    }
    // Nothing can be below what is not a directory, no matter who may write to it.
    if (!end.isDirectory()) return { end: undefined, hands }
    const next = join(current, step)
    const stats = lookAt(next)
    noteHands(hands, end, stats)
    if (stats === undefined) return { end: undefined, hands }
    if (!stats.isSymbolicLink()) {
      current = next
      end = stats
      continue
    }
    links += 1
    if (links > LINKS_MAX) throw new UserError('too_many_links', `${path} has too many links`)
    const target = readlinkSync(next)
    if (isAbsolute(target)) {
      current = '/'
      end = lstatSync(current)
    }
    steps.unshift(...stepsOf(target))
  }
  return { end, hands }
}

/** The hands that a path is in besides its owner's, as words; undefined when there are no others. */
export function describeStrangers({ end, hands }: PathHands): string | undefined {
  const owner = end?.uid ?? 0
  const strangers = [...hands].filter((hand) => hand !== owner)
  // What is root's and open to others is theirs as well: root is to work in there.
  if (owner === 0 && end !== undefined && (end.mode & OTHERS_WRITE) !== 0) strangers.push('anyone')
  const [stranger] = strangers
  return typeof stranger === 'number' ? `user ${stranger}` : stranger
}

/** In a sticky directory no user can touch what is another user's; any user may come first to a free name. */
function noteHands(
  hands: Set<number | 'anyone'>,
  directory: Stats,
  entry: Stats | undefined,
): void {
  if (directory.uid !== 0) hands.add(directory.uid)
  if ((directory.mode & OTHERS_WRITE) === 0) return
  if ((directory.mode & STICKY) === 0 || entry === undefined) hands.add('anyone')
  else if (entry.uid !== 0) hands.add(entry.uid)
}

function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '' && step !== '.')
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT' || errnoCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}
