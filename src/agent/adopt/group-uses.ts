// Services that read one file share one target, since two targets never write one path: uses are put together by files.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PemPart } from '../targets/target.ts'
import type { ServiceUse } from './find-uses.ts'
import { type PresentFile, readPresentFile } from './present-file.ts'

export interface GroupedFile {
  readonly present: PresentFile
  readonly content: readonly PemPart[]
}

export interface UseGroup {
  readonly uses: readonly ServiceUse[]
  readonly files: readonly GroupedFile[]
  readonly problems: readonly string[]
}

interface Member {
  readonly use: ServiceUse
  readonly files: readonly GroupedFile[]
  readonly problems: readonly string[]
}

/**
 * Who else reads one of them, which `adopt` need not know of, reads the key that belongs to it: what certbot changes
 * together is taken over together.
 */
const LINEAGE_FILES: ReadonlyMap<string, readonly PemPart[]> = new Map([
  ['cert.pem', ['cert']],
  ['chain.pem', ['chain']],
  ['fullchain.pem', ['cert', 'chain']],
  ['privkey.pem', ['key']],
])

export function groupUses(
  uses: readonly ServiceUse[],
  read: (path: string) => PresentFile | string = readPresentFile,
): UseGroup[] {
  const members = uses.map((use) => memberOf(use, read))
  const groups: Member[][] = []
  for (const member of members) {
    const touching = groups.filter((group) => group.some((other) => sharesFile(member, other)))
    const rest = groups.filter((group) => !touching.includes(group))
    groups.splice(0, groups.length, ...rest, [...touching.flat(), member])
  }
  return groups.map(joined)
}

function memberOf(use: ServiceUse, read: (path: string) => PresentFile | string): Member {
  const { certificatePath, keyPath, chainPath } = use
  const files: GroupedFile[] = []
  const problems: string[] = []
  const add = (
    path: string | undefined,
    contentOf: (present: PresentFile) => readonly PemPart[],
  ): void => {
    if (path === undefined) return
    const present = read(path)
    if (typeof present === 'string') problems.push(present)
    else files.push({ present, content: contentOf(present) })
  }
  const leafParts: PemPart[] = chainPath === undefined ? ['cert', 'chain'] : ['cert']
  add(certificatePath, ({ order }) => {
    if (keyPath !== undefined) return leafParts
    return order[0] === 'key' ? ['key', ...leafParts] : [...leafParts, 'key']
  })
  add(keyPath, () => ['key'])
  add(chainPath, () => ['chain'])
  const lineages = new Set(files.flatMap(({ present }) => lineageOf(present) ?? []))
  for (const directory of lineages) {
    for (const [name, content] of LINEAGE_FILES) {
      const path = join(directory, name)
      if (files.some(({ present }) => present.path === path) || !existsSync(path)) continue
      add(path, () => content)
    }
  }
  return { use, files, problems }
}

/** Of a file as certbot has it: a link into the archive of its lineage. */
function lineageOf({ path, realPath }: PresentFile): string | undefined {
  const [, directory, name = '', file = ''] = /^(.*)\/live\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  if (directory === undefined || !LINEAGE_FILES.has(file)) return undefined
  return dirname(realPath) === join(directory, 'archive', name) ? dirname(path) : undefined
}

/** What cannot be read is known by the name that the service has for it. */
function sharesFile(one: Member, other: Member): boolean {
  const paths = new Set(pathsOf(one))
  return pathsOf(other).some((path) => paths.has(path))
}

function pathsOf({ use, files }: Member): string[] {
  const read = files.map(({ present }) => present.path)
  return read.length > 0 ? read : [use.certificatePath]
}

function joined(members: readonly Member[]): UseGroup {
  const files = new Map<string, GroupedFile>()
  const problems = new Set(members.flatMap((member) => member.problems))
  for (const file of members.flatMap((member) => member.files)) {
    const { path } = file.present
    const other = files.get(path)
    if (other !== undefined && other.content.join() !== file.content.join()) {
      const wanted = [other, file].map(({ content }) => content.join(', '))
      problems.add(`${path} would have to hold ${wanted[0]} for one and ${wanted[1]} for another`)
    }
    files.set(path, other ?? file)
  }
  return {
    uses: members.map(({ use }) => use),
    files: [...files.values()].toSorted((a, b) => (a.present.path < b.present.path ? -1 : 1)),
    problems: [...problems],
  }
}
