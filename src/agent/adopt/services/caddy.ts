// A Caddyfile: sites with their directives in braces; `tls CERTIFICATE KEY` names files, anything else Caddy gets itself.

import { resolve, dirname } from 'node:path'
import { UserError } from '../../../platform/errors.ts'
import {
  type CertificateUse,
  type Listener,
  listenerAt,
  nameToAskFor,
  type ServiceFindings,
} from '../certificate-use.ts'
import type { ConfigReader } from '../config-reader.ts'

interface Line {
  readonly words: readonly string[]
  /** How many braces are open before it. */
  readonly depth: number
}

const IMPORT_DEPTH_MAX = 8
const LINES_MAX = 100_000

export function readCaddy(reader: ConfigReader, configPath: string): ServiceFindings {
  const lines = linesOf(reader, configPath, 0)
  if (lines === undefined) return { uses: [], remarks: [`${configPath} cannot be read`] }
  const snippets = snippetsOf(lines)
  const uses: CertificateUse[] = []
  const remarks: string[] = []
  for (const { addresses, body } of sitesOf(lines)) {
    const listeners = addresses.flatMap((address) => listenerOf(address) ?? [])
    const serverName = nameToAskFor(addresses.map((address) => hostOf(address)))
    const imported = body.map(({ words }) =>
      words[0] === 'import' ? snippets.get(words[1] ?? '') : undefined,
    )
    const tls = (body.find(isTls) ?? imported.find((line) => line !== undefined))?.words ?? []
    const [, certificate, key] = tls.filter((word) => word !== '{')
    if (certificate !== undefined && key !== undefined) {
      const directory = dirname(configPath)
      uses.push({
        certificatePath: resolve(directory, certificate),
        keyPath: resolve(directory, key),
        listeners,
        serverName,
      })
    } else if (listeners.length > 0) {
      remarks.push(
        `Caddy gets the certificate of ${addresses.join(' ')} by itself: name files first`,
      )
    }
  }
  return { uses, remarks }
}

interface Site {
  readonly addresses: readonly string[]
  readonly body: readonly Line[]
}

/** A file without braces is one site: its first line is the addresses. */
function sitesOf(lines: readonly Line[]): Site[] {
  const heads = lines.flatMap((line, index) =>
    line.depth === 0 && line.words.at(-1) === '{' ? [index] : [],
  )
  const [first] = lines
  if (heads.length === 0 && first !== undefined) {
    return [{ addresses: addressesOf(first), body: lines.slice(1) }]
  }
  return heads.flatMap((head, index) => {
    const line = lines[head]
    const addresses = line === undefined ? [] : addressesOf(line)
    if (addresses.length === 0 || addresses[0]?.startsWith('(') === true) return []
    return [{ addresses, body: lines.slice(head + 1, heads[index + 1] ?? lines.length) }]
  })
}

function addressesOf({ words }: Line): string[] {
  return words
    .filter((word) => word !== '{')
    .flatMap((word) => word.split(','))
    .filter((word) => word !== '')
}

/** The first `tls` of each: nothing else of a snippet is of use here. */
function snippetsOf(lines: readonly Line[]): Map<string, Line> {
  const snippets = new Map<string, Line>()
  let current: string | undefined
  for (const line of lines) {
    if (line.depth === 0) current = /^\((.+)\)$/.exec(line.words[0] ?? '')?.[1]
    else if (current !== undefined && isTls(line) && !snippets.has(current)) {
      snippets.set(current, line)
    }
  }
  return snippets
}

function isTls({ words }: Line): boolean {
  return words[0] === 'tls'
}

function hostOf(address: string): string {
  return address.replace(/^https?:\/\//, '').replace(/[:/].*$/, '')
}

/** Undefined for plain HTTP. */
function listenerOf(address: string): Listener | undefined {
  if (address.startsWith('http://')) return undefined
  const bare = address.replace(/^https:\/\//, '').replace(/\/.*$/, '')
  const [, , port] = /^(.*):(\d{1,5})$/.exec(bare) ?? []
  if (port === '80') return undefined
  return listenerAt('', Number(port ?? 443))
}

/** Undefined when the file cannot be read. Other files come in where they are imported. */
function linesOf(reader: ConfigReader, path: string, importDepth: number): Line[] | undefined {
  const text = reader.read(path)
  if (text === undefined) return undefined
  const lines: Line[] = []
  let depth = 0
  for (const line of text.split('\n')) {
    const words = (line.match(/"(?:[^"\\]|\\.)*"|`[^`]*`|[^\s"`]\S*/g) ?? []).map((word) =>
      /^(["`]).*\1$/.test(word) ? word.slice(1, -1) : word,
    )
    const comment = words.findIndex((word) => word.startsWith('#'))
    const kept = comment === -1 ? words : words.slice(0, comment)
    if (kept[0] === '}') {
      depth -= 1
      continue
    }
    if (kept.length === 0) continue
    if (lines.length > LINES_MAX) {
      throw new UserError('config_too_large', `the configuration has more than ${LINES_MAX} lines`)
    }
    const imported = kept[0] === 'import' && /[/*.]/.test(kept[1] ?? '') ? kept[1] : undefined
    if (imported === undefined) lines.push({ words: kept, depth })
    else if (importDepth < IMPORT_DEPTH_MAX) {
      for (const file of reader.expand(resolve(dirname(path), imported))) {
        const inner = linesOf(reader, file, importDepth + 1) ?? []
        for (const one of inner) lines.push({ ...one, depth: one.depth + depth })
      }
    }
    if (kept.at(-1) === '{') depth += 1
  }
  return lines
}
