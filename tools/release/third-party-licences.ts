// The licences of what is bundled: Node.js itself and the packages that the programs are made of.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '../../src/platform/files.ts'
import type { Architecture } from '../build/architecture.ts'
import { nodePackage } from '../build/runtime.ts'

interface Lockfile {
  readonly packages: Readonly<Record<string, { version?: string; dev?: boolean }>>
}

const NODE = 'node_modules/node-linux-'
const LICENCE = /^licen[cs]e/i
/** Of icons that are in the source of the console. */
const LUCIDE = 'src/console/parts/lucide-licence.txt'
const RULER = '-'.repeat(80)

/** One text: each package's place and version, and its licence. Of Node, that of the architecture that is packaged. */
export async function collectLicences(root: string, architecture: Architecture): Promise<string> {
  const lockfile = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lockfile
  const sections: string[] = []
  for (const [path, { version, dev }] of Object.entries(lockfile.packages)) {
    // The first is the project itself.
    if (path === '' || dev === true) continue
    const directory = path.startsWith(NODE)
      ? placeOfNode(path.slice(NODE.length), architecture)
      : join(root, path)
    if (directory === undefined || !(await exists(directory))) continue
    sections.push(`${path} ${version}\n\n${(await readLicence(directory)).trim()}\n`)
  }
  sections.push(await readFile(join(root, LUCIDE), 'utf8'))
  return sections.join(`\n${RULER}\n\n`)
}

/** Node is locked for every architecture. */
function placeOfNode(locked: string, packaged: Architecture): string | undefined {
  return locked === packaged ? nodePackage(packaged) : undefined
}

async function readLicence(directory: string): Promise<string> {
  const name = (await readdir(directory)).find((file) => LICENCE.test(file))
  if (name !== undefined) return readFile(join(directory, name), 'utf8')
  const manifest = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as {
    license?: string
  }
  return `Licence: ${manifest.license ?? 'not stated'}\n`
}
