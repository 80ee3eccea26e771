// Files that change as one. Each version is a directory of its own; `current` is a symlink to one of them; the names
// that readers know are symlinks through `current`. Changing version is the rename of one symlink, so at every instant
// a reader finds the files of one version or, before the first one, none.
//
//   out/site.crt -> .versions/site/current/cert.pem      out/.versions/site/current -> 000002
//   out/site.key -> .versions/site/current/key.pem       out/.versions/site/{000001,000002}/{cert.pem,key.pem}

import { randomBytes } from 'node:crypto'
import { dirname, join, normalize } from 'node:path'
import { errnoCode, SvcError } from '../../platform/errors.ts'
import { type FileOperations, nodeFileOperations } from './file-operations.ts'

export interface VersionedLayout {
  /** Where the links are; it exists. */
  readonly directory: string
  /** Where the versions are, relative to `directory`: `.versions/site`. */
  readonly versionsPath: string
  /** Name in `directory` → name in the version. */
  readonly links: Readonly<Record<string, string>>
  readonly directoryMode: number
}

export interface VersionFile {
  readonly name: string
  readonly content: string | Uint8Array
  readonly mode: number
}

/** Something that the agent did not make stands where it would write. */
export class ForeignFileError extends SvcError {
  override name = 'ForeignFileError'
  constructor(path: string, what = 'exists and was not made by the agent') {
    super('foreign_file', `${path} ${what}`, {
      hint: `move ${path} away: the agent then writes its own`,
    })
  }
}

/** A link that the agent made, in any layout. */
const OWN_LINK = /^\.(?:versions|files)\/[^/]+\/current\/[^/]+$/

const VERSION_NAME = /^\d{6,}$/
const CURRENT = 'current'

/** The directory of the current version, or undefined before the first. */
export async function currentVersionDirectory(
  layout: VersionedLayout,
  files: FileOperations = nodeFileOperations,
): Promise<string | undefined> {
  const versions = join(layout.directory, layout.versionsPath)
  const name = await readCurrentName(versions, files)
  return name === undefined ? undefined : join(versions, name)
}

/** Makes `version` the current one, durably; keeps the one before it and removes the rest. */
export async function switchVersion(
  layout: VersionedLayout,
  version: readonly VersionFile[],
  files: FileOperations = nodeFileOperations,
): Promise<void> {
  const versions = await ensureVersionsDirectory(layout, files)
  const missingLinks = await findMissingLinks(layout, files)
  const current = await readCurrentName(versions, files)
  // A crash may have left half a version behind, and on a full disk it may be what fills it.
  await removeOtherVersions(versions, files)
  const name = nameAfter(await versionNames(versions, files))
  await stage(join(versions, name), version, layout.directoryMode, files)
  await files.syncDirectory(versions)
  if (current === undefined || missingLinks.length > 0) {
    await createLinks(layout, missingLinks, files)
  }
  await pointCurrentTo(versions, name, files)
  // The switch has happened; what cannot be removed now is removed by the next one.
  await removeOtherVersions(versions, files).catch(() => undefined)
}

/** Throws ForeignFileError when a version could not be switched in because of what is there already. */
export async function checkLayout(
  layout: VersionedLayout,
  files: FileOperations = nodeFileOperations,
): Promise<void> {
  await readCurrentName(await ensureVersionsDirectory(layout, files), files)
  await findMissingLinks(layout, files)
}

/** What is in the place of the agent's link. */
export async function kindOfPlace(
  { directory, versionsPath, links }: VersionedLayout,
  link: string,
  files: FileOperations = nodeFileOperations,
): Promise<'nothing' | 'own link' | 'file' | 'foreign'> {
  const path = join(directory, link)
  // Asked first, since it nearly always is one; each round asks of every delivery.
  const target = await readLinkIfAny(path, files)
  if (target !== undefined) {
    return target === join(versionsPath, CURRENT, links[link] ?? '') ? 'own link' : 'foreign'
  }
  const kind = await files.kindOf(path)
  return kind === 'nothing' || kind === 'file' ? kind : 'foreign'
}

async function readLinkIfAny(path: string, files: FileOperations): Promise<string | undefined> {
  try {
    return await files.readLink(path)
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT' || code === 'EINVAL') return undefined
    throw error
  }
}

/**
 * Makes what a switch did survive a power cut, also when the process that did it was killed before it could see to
 * that: the version was synced before the switch, the directories that lead to it may not have been.
 */
export async function syncLayout(
  { directory, versionsPath }: VersionedLayout,
  files: FileOperations = nodeFileOperations,
): Promise<void> {
  let path = join(directory, versionsPath)
  for (; path !== dirname(directory); path = dirname(path)) {
    if ((await files.kindOf(path)) !== 'nothing') await files.syncDirectory(path)
  }
  await files.syncDirectory(path)
}

/** Puts back links that others removed, and says which; needs a current version. */
export async function restoreLinks(
  layout: VersionedLayout,
  files: FileOperations = nodeFileOperations,
): Promise<string[]> {
  const missing = await findMissingLinks(layout, files)
  if (missing.length > 0) await createLinks(layout, missing, files)
  return missing.map(([path]) => path)
}

/**
 * Puts links in the place of plain files. `version` holds what they hold, so that whatever is cut short here, a reader
 * finds the same files by whichever way.
 */
export async function adoptPlainFiles(
  layout: VersionedLayout,
  version: readonly VersionFile[],
  files: FileOperations = nodeFileOperations,
): Promise<void> {
  const versions = await ensureVersionsDirectory(layout, files)
  const name = nameAfter(await versionNames(versions, files))
  await stage(join(versions, name), version, layout.directoryMode, files)
  await files.syncDirectory(versions)
  await pointCurrentTo(versions, name, files)
  // The first name last: by that one an adoption that was cut short is known.
  for (const [link, file] of Object.entries(layout.links).reverse()) {
    const kind = await kindOfPlace(layout, link, files)
    if (kind === 'own link') continue
    const path = join(layout.directory, link)
    if (kind === 'foreign') throw new ForeignFileError(path)
    const staged = join(layout.directory, `.${link}.${randomBytes(6).toString('hex')}.tmp`)
    await files.makeLink(join(layout.versionsPath, CURRENT, file), staged)
    await files.rename(staged, path)
  }
  await files.syncDirectory(layout.directory)
}

async function ensureVersionsDirectory(
  { directory, versionsPath, directoryMode }: VersionedLayout,
  files: FileOperations,
): Promise<string> {
  let path = directory
  for (const part of normalize(versionsPath).split('/')) {
    const parent = path
    path = join(parent, part)
    const kind = await files.kindOf(path)
    if (kind === 'directory') continue
    if (kind !== 'nothing') throw new ForeignFileError(path)
    await files.makeDirectory(path, directoryMode)
    await files.syncDirectory(parent)
  }
  return path
}

async function findMissingLinks(
  layout: VersionedLayout,
  files: FileOperations,
): Promise<[path: string, target: string][]> {
  const missing: [string, string][] = []
  for (const [link, file] of Object.entries(layout.links)) {
    const path = join(layout.directory, link)
    const kind = await kindOfPlace(layout, link, files)
    if (kind === 'nothing') missing.push([path, join(layout.versionsPath, CURRENT, file)])
    else if (kind !== 'own link') throw await foreignAt(path, files)
  }
  return missing
}

async function foreignAt(path: string, files: FileOperations): Promise<ForeignFileError> {
  const target = (await files.kindOf(path)) === 'link' ? await files.readLink(path) : ''
  return OWN_LINK.test(target)
    ? new ForeignFileError(path, `belongs to an earlier delivery, and leads to ${target}`)
    : new ForeignFileError(path)
}

/** Before the first version the links lead nowhere, and all of them come to life in the one rename. */
async function createLinks(
  { directory }: VersionedLayout,
  links: readonly [path: string, target: string][],
  files: FileOperations,
): Promise<void> {
  for (const [path, target] of links) await files.makeLink(target, path)
  await files.syncDirectory(directory)
}

async function stage(
  directory: string,
  version: readonly VersionFile[],
  directoryMode: number,
  files: FileOperations,
): Promise<void> {
  await files.makeDirectory(directory, directoryMode)
  for (const { name, content, mode } of version) {
    await files.writeNewFile(join(directory, name), content, mode)
  }
  await files.syncDirectory(directory)
}

async function pointCurrentTo(
  versions: string,
  name: string,
  files: FileOperations,
): Promise<void> {
  const staged = join(versions, `.${CURRENT}.${randomBytes(6).toString('hex')}.tmp`)
  await files.makeLink(name, staged)
  await files.rename(staged, join(versions, CURRENT))
  await files.syncDirectory(versions)
}

/** Everything but the current version and the last one before it. */
async function removeOtherVersions(versions: string, files: FileOperations): Promise<void> {
  const current = await readCurrentName(versions, files)
  const all = await versionNames(versions, files)
  const previous = all.findLast((name) => current !== undefined && isBefore(name, current))
  const kept = new Set([CURRENT, current, previous])
  for (const name of await files.list(versions)) {
    if (!kept.has(name)) await files.removeTree(join(versions, name))
  }
}

async function readCurrentName(
  versions: string,
  files: FileOperations,
): Promise<string | undefined> {
  const path = join(versions, CURRENT)
  try {
    const name = await files.readLink(path)
    if (!VERSION_NAME.test(name)) throw new ForeignFileError(path)
    return name
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    if (errnoCode(error) === 'EINVAL') throw new ForeignFileError(path)
    throw error
  }
}

async function versionNames(versions: string, files: FileOperations): Promise<string[]> {
  const names = await files.list(versions)
  return names.filter((name) => VERSION_NAME.test(name)).sort((a, b) => Number(a) - Number(b))
}

function nameAfter(names: readonly string[]): string {
  return String(Number(names.at(-1) ?? 0) + 1).padStart(6, '0')
}

function isBefore(a: string, b: string): boolean {
  return Number(a) < Number(b)
}
