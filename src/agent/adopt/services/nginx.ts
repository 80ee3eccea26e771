// nginx's configuration: directives with `;`, blocks with braces, includes anywhere; a server inherits from its block.

import { dirname, resolve } from 'node:path'
import {
  type CertificateUse,
  type Listener,
  nameToAskFor,
  parseListener,
  type ServiceFindings,
} from '../certificate-use.ts'
import type { ConfigReader } from '../config-reader.ts'

interface Block {
  readonly kind: string
  certificates: string[]
  keys: string[]
  readonly names: string[]
  readonly listeners: Listener[]
  /** `ssl on`, as configurations before nginx 1.25 may have it. */
  isSsl: boolean
}

interface State {
  readonly reader: ConfigReader
  readonly prefix: string
  /** With the blocks around them: what those say counts wherever it stands in them, so all is read first. */
  readonly servers: { readonly server: Block; readonly outer: readonly Block[] }[]
  readonly uses: CertificateUse[]
  readonly remarks: Set<string>
}

const INCLUDE_DEPTH_MAX = 16
const WORDS_MAX = 512

/** `configPath` is the file that nginx was started with; relative names are relative to its directory. */
export function readNginx(reader: ConfigReader, configPath: string): ServiceFindings {
  const state: State = {
    reader,
    prefix: dirname(configPath),
    servers: [],
    uses: [],
    remarks: new Set(),
  }
  const main = newBlock('main')
  readFile(state, configPath, [main], 0)
  for (const { server, outer } of state.servers) endServer(state, server, outer)
  return { uses: state.uses, remarks: [...state.remarks] }
}

function newBlock(kind: string): Block {
  return { kind, certificates: [], keys: [], names: [], listeners: [], isSsl: false }
}

/** An include goes on in the blocks of the file that includes it, and may open none without closing it. */
function readFile(state: State, path: string, outer: readonly Block[], depth: number): void {
  const text = state.reader.read(path)
  if (text === undefined || depth > INCLUDE_DEPTH_MAX) {
    state.remarks.add(`${path} is included and cannot be read`)
    return
  }
  const blocks = [...outer]
  let words: string[] = []
  for (const token of tokensOf(text)) {
    if (token.kind === 'word') {
      if (words.length < WORDS_MAX) words.push(token.text)
    } else if (token.kind === 'open') {
      blocks.push(newBlock(words[0] ?? ''))
      words = []
    } else if (token.kind === 'close') {
      const block = blocks.length > outer.length ? blocks.pop() : undefined
      if (block?.kind === 'server' && block.listeners.length > 0) {
        state.servers.push({ server: block, outer: [...blocks] })
      }
      words = []
    } else {
      const [name, ...values] = words
      words = []
      if (name === 'include') {
        for (const pattern of values) {
          for (const included of state.reader.expand(resolve(state.prefix, pattern))) {
            readFile(state, included, blocks, depth + 1)
          }
        }
      } else readDirective(state, blocks, name ?? '', values)
    }
  }
}

function readDirective(
  { remarks }: State,
  blocks: readonly Block[],
  name: string,
  values: readonly string[],
): void {
  const block = blocks.at(-1)
  const [first = ''] = values
  if (block === undefined) return
  if (name === 'ssl_certificate') block.certificates.push(first)
  else if (name === 'ssl_certificate_key') block.keys.push(first)
  else if (name === 'server_name') block.names.push(...values)
  else if (name === 'ssl') block.isSsl ||= first === 'on'
  else if (name === 'listen') {
    // QUIC is not TCP, and a proxy's own line would have to come before the handshake.
    const isProbed = !values.includes('quic') && !values.includes('proxy_protocol')
    const listener = isProbed ? parseListener(first, 80) : undefined
    if (listener !== undefined && (values.includes('ssl') || isSslAnyway(blocks))) {
      block.listeners.push(listener)
    }
  } else if (/^(proxy|grpc|uwsgi)_ssl_certificate$/.test(name)) {
    remarks.add(`${name} ${first}: a certificate that nginx shows to others is not adopted`)
  }
}

function isSslAnyway(blocks: readonly Block[]): boolean {
  return blocks.some(({ isSsl }) => isSsl)
}

function endServer(state: State, server: Block, outer: readonly Block[]): void {
  const all = [...outer, server].toReversed()
  const certificates = all.find((block) => block.certificates.length > 0)?.certificates ?? []
  const keys = all.find((block) => block.keys.length > 0)?.keys ?? []
  const [certificate, ...further] = certificates
  if (certificate === undefined) return
  const serverName = nameToAskFor(server.names)
  const subject = `the server ${serverName ?? 'without a name'}`
  if (further.length > 0) {
    state.remarks.add(`${subject} has ${certificates.length} certificates, and one is adopted only`)
    return
  }
  const [key = certificate] = keys
  const odd = [certificate, key].find((path) => path.includes('$') || /^(data|engine):/.test(path))
  if (odd !== undefined) {
    state.remarks.add(`${subject} has a certificate that is no file: ${odd}`)
    return
  }
  const certificatePath = resolve(state.prefix, certificate)
  const keyPath = resolve(state.prefix, key)
  state.uses.push({
    certificatePath,
    keyPath: keyPath === certificatePath ? undefined : keyPath,
    listeners: server.listeners,
    serverName,
  })
}

type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'open' | 'close' | 'end' }

// A word may hold quotes, escapes and `${variables}`; a comment begins where a word could.
const TOKEN =
  /#[^\n]*|"[^"\\]*(?:\\[^][^"\\]*)*"|'[^'\\]*(?:\\[^][^'\\]*)*'|[;{}]|(?:[^\s;{}\\"'#$]+|\\[^]|\$\{\w{0,128}\}|\$|(?<=\S)[#"'])+/g

function* tokensOf(text: string): Generator<Token> {
  let isCode = false
  let depth = 0
  for (const [match] of text.matchAll(TOKEN)) {
    // A block of Lua is a language of its own; its braces are balanced.
    if (isCode) {
      if (match === '{') depth += 1
      if (match === '}') depth -= 1
      if (depth > 0) continue
      isCode = false
      yield { kind: 'end' }
      continue
    }
    if (match.startsWith('#')) continue
    if (match === ';') yield { kind: 'end' }
    else if (match === '{') yield { kind: 'open' }
    else if (match === '}') yield { kind: 'close' }
    else {
      isCode = match.endsWith('_by_lua_block')
      depth = 0
      yield { kind: 'word', text: unquoted(match) }
    }
  }
}

function unquoted(word: string): string {
  const isQuoted = /^(["']).*\1$/s.test(word)
  return (isQuoted ? word.slice(1, -1) : word).replaceAll(/\\(["'\\ ;{}])/g, '$1')
}
