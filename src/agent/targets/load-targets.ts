// The targets of a host, from `targets.d`; what anyone but root and the user could have written is not read.

import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errnoCode } from '../../platform/errors.ts'
import type { KeyType } from '../../pki/keys.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { findConflicts } from './load-targets-conflicts.ts'
import { type Target, TARGET_TOML_BYTES_MAX, type TargetProblem } from './target.ts'
import { ownershipRefusal, readTrustedDirectories } from '../files/trusted-path.ts'

export interface LoadedTarget extends Target {
  /**
   * The user whose target this is, and who alone applies it: root when nobody else could have written it, else the user
   * who loads. So root and an agent that read the same directory never both apply one.
   */
  readonly appliedBy: number
}

export interface LoadedTargets {
  readonly targets: readonly LoadedTarget[]
  readonly problems: readonly TargetProblem[]
}

const TARGETS_MAX = 256
const TARGET_FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\.toml$/

/**
 * All targets that are right, in the order of their files' names, and what is wrong with the others. `uid` is the user
 * that loads: root trusts only root, anyone else root and itself. A directory that is not there holds none.
 */
export async function loadTargets(
  directory: string,
  { uid }: { readonly uid: number },
): Promise<LoadedTargets> {
  const names = await listTargetFiles(directory)
  if (typeof names === 'string') return refused(directory, names)
  if (names.length === 0) return { targets: [], problems: [] }
  const trusted = await readTrustedDirectories(directory, uid)
  if (!trusted.ok) return refused(directory, trusted.reason)
  // An agent without targets does without TOML.
  const { parseTarget } = await import('./parse-targets.ts')
  const targets: LoadedTarget[] = []
  const problems: TargetProblem[] = []
  const isRootsAlone = trusted.directories.every((stats) => stats.uid === 0)
  for (const name of names.slice(0, TARGETS_MAX)) {
    const source = join(directory, name)
    const read = await readTargetFile(source, uid)
    const parsed = read.ok ? parseTarget(source, read.text) : read
    if (!parsed.ok) problems.push(...parsed.problems)
    else if (read.ok) {
      const appliedBy = isRootsAlone && read.ownerUid === 0 ? 0 : uid
      targets.push({ ...parsed.target, appliedBy })
    }
  }
  if (names.length > TARGETS_MAX) {
    problems.push(about(directory, `holds more than ${TARGETS_MAX} targets; the others are left`))
  }
  const conflicts = findConflicts(targets)
  const inConflict = new Set(conflicts.map(({ source }) => source))
  return {
    targets: targets.filter(({ source }) => !inConflict.has(source)),
    problems: [...problems, ...conflicts],
  }
}

/** What a delivery's key is to be; targets of one delivery never differ in that. */
export function keyTypeOf(targets: readonly Target[], name: ArtefactName): KeyType {
  const target = targets.find((one) => one.artefact === 'pair' && one.name === name)
  return target?.keyType ?? 'ec-p256'
}

type ReadTarget =
  | { readonly ok: true; readonly text: string; readonly ownerUid: number }
  | { readonly ok: false; readonly problems: readonly TargetProblem[] }

/** Never follows a link and never waits for a writer; what is checked is the very file that is read. */
async function readTargetFile(source: string, uid: number): Promise<ReadTarget> {
  const refuse = (reason: string): ReadTarget => ({ ok: false, problems: [about(source, reason)] })
  if (!TARGET_FILE_NAME.test(basename(source))) {
    return refuse('its name has characters besides letters, digits, dots, _ and -')
  }
  let file: FileHandle
  try {
    file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = errnoCode(error)
    if (code === undefined) throw error
    return refuse(code === 'ELOOP' ? 'is a symbolic link' : `cannot be read: ${code}`)
  }
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return refuse('is not a file')
    const reason = ownershipRefusal(stats, uid, 'the file')
    if (reason !== undefined) return refuse(reason)
    if (stats.size > TARGET_TOML_BYTES_MAX)
      return refuse(`is larger than ${TARGET_TOML_BYTES_MAX} bytes`)
    const text = decodeUtf8(await readAtMost(file, stats.size))
    return text === undefined ? refuse('is not UTF-8') : { ok: true, text, ownerUid: stats.uid }
  } finally {
    await file.close()
  }
}

async function readAtMost(file: FileHandle, bytesMax: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesMax), 0, bytesMax, 0)
  return buffer.subarray(0, bytesRead)
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** In name order; the reason, as text, when the directory cannot be read. */
async function listTargetFiles(directory: string): Promise<string[] | string> {
  try {
    const names = await readdir(directory)
    return names.filter((name) => name.endsWith('.toml') && !name.startsWith('.')).sort()
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT') return []
    if (code === undefined) throw error
    return `cannot be read: ${code}`
  }
}

function refused(directory: string, reason: string): LoadedTargets {
  return { targets: [], problems: [about(directory, reason)] }
}

function about(source: string, reason: string): TargetProblem {
  return { source, line: undefined, reason }
}
