// The files of the reference set-up as docs/high-availability.md shows them, for machines that have other addresses and places.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../../tools/source-files.ts'

export const REPLICATION_MODES = ['strict', 'sync', 'async'] as const
export type ReplicationMode = (typeof REPLICATION_MODES)[number]

const PAGE = join(ROOT, 'docs/high-availability.md')

/** The block of the page whose fence names this file. Each text to be replaced has to be there. */
export async function readReferenceFile(
  path: string,
  replacements: ReadonlyMap<string, string>,
): Promise<string> {
  const page = await readFile(PAGE, 'utf8')
  const fence = new RegExp(`^\`\`\`\\w+ ${path.replaceAll('.', '\\.')}\n([^]*?)^\`\`\`$`, 'm')
  let text = fence.exec(page)?.[1]
  if (text === undefined) throw new Error(`docs/high-availability.md has no ${path}`)
  for (const [shown, own] of replacements) {
    if (!text.includes(shown)) throw new Error(`${path} of the page has no ${shown}`)
    text = text.replaceAll(shown, own)
  }
  return text
}

/** As in a file of systemd's EnvironmentFile. */
export function parseVariables(text: string): readonly string[] {
  return [...text.matchAll(/^(\w+)="(.*)"$/gm)].map(([, name, value]) => `${name}=${value}`)
}

/** What a mode changes in the settings that are shown, which are those of `strict`. */
export function replacementsOfMode(mode: ReplicationMode): ReadonlyMap<string, string> {
  if (mode === 'strict') return new Map()
  const replacements = new Map([
    ['synchronous_mode_strict: true', 'synchronous_mode_strict: false'],
  ])
  if (mode === 'async') replacements.set('synchronous_mode: true', 'synchronous_mode: false')
  return replacements
}
