// Whether a target's files may go where it says: nobody but root and the applier may have a hand in the place.

import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describeUser, resolveFileOwner } from './target-account.ts'
import type { Applier } from './target-applier.ts'
import type { Target, TargetFile, TargetProblem } from './target.ts'
import { lookAt, ownershipRefusal, readTrustedDirectories } from '../files/trusted-path.ts'

/** One problem for each file that is refused, with the line of its `[[file]]`. */
export async function checkPlaces(
  { source, files }: Pick<Target, 'source' | 'files'>,
  applier: Applier,
): Promise<TargetProblem[]> {
  const problems: TargetProblem[] = []
  for (const file of files) {
    const reason = await checkPlace(file, applier)
    if (reason !== undefined) problems.push({ source, line: file.line, reason })
  }
  return problems
}

/** As checkPlace, whatever stands there now. */
export async function checkDirectory(
  file: Pick<TargetFile, 'path' | 'owner' | 'group'>,
  applier: Applier,
): Promise<string | undefined> {
  const owner = await resolveFileOwner(file, applier)
  return owner.ok ? directoryRefusal(dirname(file.path), applier) : owner.reason
}

/** Why the file may not be put there, as things are now; undefined when it may. Changes nothing. */
export async function checkPlace(file: TargetFile, applier: Applier): Promise<string | undefined> {
  const owner = await resolveFileOwner(file, applier)
  if (!owner.ok) return owner.reason
  const reason =
    (await directoryRefusal(dirname(file.path), applier)) ??
    (await presentFileRefusal(file.path, owner.uid, applier))
  if (reason !== undefined || file.content.format !== 'pkcs12') return reason
  return passwordFileRefusal(file.content.passwordFile, applier)
}

/** Those that a change of the target makes: the last directory of a path, where it is not there (TGT-8). */
export async function missingDirectories({ files }: Pick<Target, 'files'>): Promise<string[]> {
  const missing: string[] = []
  for (const directory of new Set(files.map(({ path }) => dirname(path)))) {
    if ((await lookAt(directory)) === undefined) missing.push(directory)
  }
  return missing
}

async function directoryRefusal(directory: string, applier: Applier): Promise<string | undefined> {
  const isMissing = (await lookAt(directory)) === undefined
  const present = isMissing ? dirname(directory) : directory
  const trusted = await readTrustedDirectories(present, applier.uid)
  if (!trusted.ok) return trusted.reason
  for (const own of applier.ownDirectories) {
    const seen = await followTo(own)
    // Compared by what they are: a directory can have more than one name.
    const isBelow = trusted.directories.some(
      ({ dev, ino }) => dev === seen?.dev && ino === seen.ino,
    )
    if (isBelow) return `${directory} is in ${own}, which is the agent's own`
  }
  return undefined
}

/** Through links, since the agent's directories may be reached by some; undefined when there is nothing to be seen. */
async function followTo(directory: string): Promise<Stats | undefined> {
  try {
    return await stat(directory)
  } catch {
    return undefined
  }
}

async function presentFileRefusal(
  path: string,
  ownerUid: number,
  applier: Applier,
): Promise<string | undefined> {
  const seen = await lookAt(path)
  if (seen === undefined || typeof seen === 'string') return seen
  const refusal = kindRefusal(seen, path)
  if (refusal !== undefined) return refusal
  if (![0, applier.uid, ownerUid].includes(seen.uid)) {
    const [present, wanted] = [await describeUser(seen.uid), await describeUser(ownerUid)]
    return `${path} belongs to ${present}, and the target gives it to ${wanted}`
  }
  return seen.nlink > 1 ? `${path} has ${seen.nlink} hard links` : undefined
}

async function passwordFileRefusal(path: string, applier: Applier): Promise<string | undefined> {
  const trusted = await readTrustedDirectories(dirname(path), applier.uid)
  if (!trusted.ok) return `password_file: ${trusted.reason}`
  const seen = await lookAt(path)
  if (seen === undefined) return `password_file: ${path} does not exist`
  if (typeof seen === 'string') return `password_file: ${seen}`
  const refusal = kindRefusal(seen, path) ?? ownershipRefusal(seen, applier.uid, path)
  if (refusal !== undefined) return `password_file: ${refusal}`
  return (seen.mode & 0o007) === 0 ? undefined : `password_file: ${path} can be read by others`
}

function kindRefusal(stats: Stats, path: string): string | undefined {
  if (stats.isSymbolicLink()) return `${path} is a symbolic link`
  return stats.isFile() ? undefined : `${path} is not a regular file`
}
