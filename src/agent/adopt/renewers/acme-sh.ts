// acme.sh: a directory for each certificate with its settings in `NAME.conf`, which `acme.sh --remove` renames too.

import { basename, dirname, join } from 'node:path'
import type { ConfigReader } from '../config-reader.ts'
import { type FindRenewer, type ReadPath, type Renewer, STOPPED_SUFFIX } from './renewer.ts'

const INSTALLED_AS = /^Le_Real(?:Cert|CACert|Key|FullChain)Path='?([^'\n]*)'?$/gm
const RELOAD = /^Le_ReloadCmd='?(.*?)'?$/m
const ENCODED = /^__ACME_BASE64__START_([A-Za-z0-9+/=]*)__ACME_BASE64__END_$/

/** `homes`: directories of users that are root's alone; others are not root's to change. */
export function findAcmeSh(homes: readonly string[]): FindRenewer {
  return (reader, file) => {
    const inside = lineageAround(reader, file)
    if (inside !== undefined) return [inside]
    for (const home of homes) {
      const base = join(home, '.acme.sh')
      for (const directory of reader.list(base) ?? []) {
        const found = lineageIn(reader, join(base, directory), file.path)
        if (found !== undefined) return [found]
      }
    }
    return []
  }
}

/** A service may read the very files that acme.sh keeps for itself. */
function lineageAround(reader: ConfigReader, { realPath }: ReadPath): Renewer | undefined {
  const directory = dirname(realPath)
  const text = reader.read(confIn(directory))
  return text !== undefined && /^Le_Domain=/m.test(text) ? describe(directory, text) : undefined
}

function lineageIn(reader: ConfigReader, directory: string, path: string): Renewer | undefined {
  if (!basename(directory).includes('.')) return undefined
  const text = reader.read(confIn(directory))
  const installed = [...(text ?? '').matchAll(INSTALLED_AS)].map(([, value]) => value)
  return text !== undefined && installed.includes(path) ? describe(directory, text) : undefined
}

function confIn(directory: string): string {
  return join(directory, `${basename(directory).replace(/_ecc$/, '')}.conf`)
}

function describe(directory: string, text: string): Renewer {
  const from = confIn(directory)
  const given = RELOAD.exec(text)?.[1] ?? ''
  const encoded = ENCODED.exec(given)?.[1]
  const reload = encoded === undefined ? given : Buffer.from(encoded, 'base64').toString('utf8')
  return {
    kind: 'acme.sh',
    name: basename(directory),
    stop: { kind: 'rename', from, to: `${from}${STOPPED_SUFFIX}` },
    notes: reload === '' ? [] : [`acme.sh ran after a renewal: ${reload}`],
  }
}
