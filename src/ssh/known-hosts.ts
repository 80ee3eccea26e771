// known_hosts (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT): which key is which host's, and which CAs certify hosts.

import { createHmac } from 'node:crypto'
import { isKeyType, parsePublicKey } from './public-key.ts'

export interface KnownHost {
  readonly kind: 'key' | 'authority' | 'revoked'
  /** Names, hashed names and, for a CA, patterns. */
  readonly names: readonly string[]
  /** Base64. */
  readonly key: string
}

export interface KnownHosts {
  readonly hosts: readonly KnownHost[]
  /** Lines of which nothing counts. */
  readonly ignored: number
}

const MARKERS = { '@cert-authority': 'authority', '@revoked': 'revoked' } as const
const HASHED = /^\|1\|([A-Za-z0-9+/]+=*)\|([A-Za-z0-9+/]+=*)$/

/**
 * A key is that of one host: a pattern counts for a CA alone, since a key that many hosts have shows of none of them who it is. Names
 * with a port, as `[web-1]:2222`, are those of another server on the host.
 */
export function parseKnownHosts(text: string): KnownHosts {
  const hosts: KnownHost[] = []
  let ignored = 0
  for (const line of text.split(/\r?\n/)) {
    const words = line.trim().split(/[ \t]+/)
    if (words[0] === '' || words[0]?.startsWith('#') === true) continue
    const host = readLine(words)
    if (host === undefined) ignored += 1
    else hosts.push(host)
  }
  return { hosts, ignored }
}

function readLine(words: readonly string[]): KnownHost | undefined {
  const marker = words[0]?.startsWith('@') === true ? words[0] : undefined
  const kind = marker === undefined ? 'key' : MARKERS[marker as keyof typeof MARKERS]
  const [list = '', type = '', key = ''] = marker === undefined ? words : words.slice(1)
  if (kind === undefined || !isKeyType(type)) return undefined
  const read = parsePublicKey(Buffer.from(key, 'base64'))
  const names = list
    .split(',')
    .map((name) => (name.startsWith('|') ? name : name.toLowerCase()))
    .filter((name) => mayName(name, kind))
  if (read?.type !== type) return undefined
  // A key that is revoked for one host is no longer secret.
  if (names.length === 0 && kind !== 'revoked') return undefined
  return { kind, names, key: read.blob.toString('base64') }
}

function mayName(name: string, kind: KnownHost['kind']): boolean {
  if (name === '' || name.startsWith('[')) return false
  return name.startsWith('|') ? HASHED.test(name) : kind !== 'key' || !/[*?!]/.test(name)
}

/** Whether a line is for a host: by one of its names, and by none that begins with `!`. */
export function isNamed({ names }: KnownHost, hostname: string): boolean {
  const isExcluded = names.some(
    (name) => name.startsWith('!') && matchesGlob(name.slice(1), hostname),
  )
  return !isExcluded && names.some((name) => !name.startsWith('!') && isName(name, hostname))
}

function isName(name: string, hostname: string): boolean {
  const [, salt, digest] = HASHED.exec(name) ?? []
  if (salt === undefined || digest === undefined) return matchesGlob(name, hostname)
  const key = Buffer.from(salt, 'base64')
  return createHmac('sha1', key).update(hostname).digest().equals(Buffer.from(digest, 'base64'))
}

/** `*` is any text, `?` one letter. Back to the last `*` alone, so it takes no longer than the product of both lengths. */
function matchesGlob(pattern: string, text: string): boolean {
  let [at, from] = [0, 0]
  let star: { readonly at: number; from: number } | undefined
  while (from < text.length) {
    const wanted = pattern[at]
    if (wanted === '*') {
      star = { at, from }
      at += 1
    } else if (wanted === '?' || (wanted !== undefined && wanted === text[from])) {
      at += 1
      from += 1
    } else if (star !== undefined) {
      star.from += 1
      from = star.from
      at = star.at + 1
    } else return false
  }
  return /^\**$/.test(pattern.slice(at))
}
