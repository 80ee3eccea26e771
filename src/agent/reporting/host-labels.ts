// What the agent says of its host as labels: what it can see for itself, and what SVC_LABELS has. The hub puts `host.` before
// each key. They inform people and lists; nothing is decided by them. docs/protocol.md LBL-12.

import { arch, platform } from 'node:os'
import { readTextIfPresent } from '../../platform/files.ts'
import { LABEL_BYTES_MAX, type Labels, SEEN_KEYS, type SeenKey } from '../../protocol/labels.ts'

/** The first that is there counts: os-release(5). */
const OS_RELEASE_PATHS = ['/etc/os-release', '/usr/lib/os-release']
const OS_RELEASE_BYTES_MAX = 64 * 1024

export async function readHostLabels(version: string, set: Labels): Promise<Labels> {
  const release = parseOsRelease(await readOsRelease())
  return labelsOf(
    {
      os: platform(),
      arch: arch(),
      distribution: release.get('ID'),
      'distribution-version': release.get('VERSION_ID'),
      'agent-version': version,
    },
    set,
  )
}

/** A host says what it can: what it does not know, or no label can hold, is left out. */
export function labelsOf(seen: Readonly<Record<SeenKey, string | undefined>>, set: Labels): Labels {
  const labels = new Map<string, string>()
  for (const key of SEEN_KEYS) {
    const value = toValue(seen[key] ?? '')
    if (value !== '') labels.set(key, value)
  }
  return new Map([...labels, ...set])
}

/** As near to it as a value of a label can be. */
function toValue(text: string): string {
  const atStart = text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return atStart.slice(0, LABEL_BYTES_MAX).replace(/[^A-Za-z0-9]+$/, '')
}

async function readOsRelease(): Promise<string> {
  for (const path of OS_RELEASE_PATHS) {
    // Where it cannot be read the host says nothing of it.
    const text = await readTextIfPresent(path, OS_RELEASE_BYTES_MAX).catch(() => undefined)
    if (text !== undefined) return text
  }
  return ''
}

/** Lines of a shell: NAME=value, perhaps in quotes. What has more of a shell in it is left out: os-release(5) forbids it. */
export function parseOsRelease(text: string): ReadonlyMap<string, string> {
  const lines = text.matchAll(
    /^([A-Z_]+)=(?:"([^"\\$`\n]*)"|'([^'\n]*)'|([A-Za-z0-9._-]*))[ \t]*\r?$/gm,
  )
  return new Map(
    Array.from(lines, ([, name = '', double, single, bare = '']) => [
      name,
      double ?? single ?? bare,
    ]),
  )
}
