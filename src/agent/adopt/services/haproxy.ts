// HAProxy's configuration: sections of lines; `bind … ssl crt FILE|DIRECTORY` and `crt-list FILE` name certificates.

import { join, resolve } from 'node:path'
import {
  type CertificateUse,
  type Listener,
  listenerAt,
  type ServiceFindings,
} from '../certificate-use.ts'
import type { ConfigReader } from '../config-reader.ts'

interface State {
  readonly reader: ConfigReader
  base: string
  /** HAProxy reads `site.pem` and `site.key`, not `site.pem.key` [ssl-load-extra-del-ext]. */
  cutsExtension: boolean
  readonly uses: CertificateUse[]
  readonly remarks: Set<string>
}

/** Beside a certificate in a directory, and no certificates themselves. */
const EXTRA = /\.(key|issuer|ocsp|sctl|dh)$/
const SECTION =
  /^(global|defaults|frontend|backend|listen|crt-store|userlist|peers|resolvers|cache|program|ring|mailers|http-errors|fcgi-app|log-forward|log-profile|acme|traces)$/

/** The files in the order in which HAProxy was given them; directories are read as HAProxy reads them. */
export function readHaproxy(reader: ConfigReader, configPaths: readonly string[]): ServiceFindings {
  const state: State = {
    reader,
    base: '/',
    cutsExtension: false,
    uses: [],
    remarks: new Set(),
  }
  for (const path of configPaths.flatMap((one) => filesOf(reader, one))) {
    const text = reader.read(path)
    if (text === undefined) state.remarks.add(`${path} cannot be read`)
    else readFile(state, text)
  }
  return { uses: state.uses, remarks: [...state.remarks] }
}

function filesOf(reader: ConfigReader, path: string): string[] {
  const names = reader.list(path)
  if (names === undefined) return [path]
  return names.filter((name) => /^[^.].*\.cfg$/.test(name)).map((name) => join(path, name))
}

function readFile(state: State, text: string): void {
  let section = ''
  for (const line of text.split('\n')) {
    const words = wordsOf(line)
    const [first = '', second = ''] = words
    if (SECTION.test(first)) section = first
    if (section === 'crt-store' && first === 'load') {
      state.remarks.add(`crt-store is not followed: ${words.join(' ')}`)
    } else if (section === 'global' && first === 'crt-base') state.base = second
    else if (first === 'ssl-load-extra-del-ext') state.cutsExtension = true
    else if (first === 'bind') readBind(state, words)
    else if (/^(server|default-server)$/.test(first) && words.includes('crt')) {
      const name = words[words.indexOf('crt') + 1] ?? ''
      state.remarks.add(`${name}: a certificate that HAProxy shows to servers is not adopted`)
    }
  }
}

function readBind(state: State, words: readonly string[]): void {
  if (!words.includes('ssl')) return
  // Before the handshake a client would have to say who it speaks for.
  const isProbed = !words.includes('accept-proxy')
  const listeners = isProbed ? (words[1] ?? '').split(',').flatMap(listenersOf) : []
  const paths = words.flatMap((word, index) => {
    const value = words[index + 1] ?? ''
    if (word === 'crt') return certificatesOf(state, value)
    return word === 'crt-list' ? listedIn(state, value) : []
  })
  for (const certificatePath of paths) {
    const keyPath = keyBeside(state, certificatePath)
    state.uses.push({ certificatePath, keyPath, listeners, serverName: undefined })
  }
}

function listenersOf(address: string): Listener[] {
  const [, host, port] = /^(?:ipv[46]@)?(.*):(\d{1,5})(?:-\d+)?$/.exec(address) ?? []
  if (host === undefined || /[@/$]/.test(host)) return []
  const listener = listenerAt(host, Number(port))
  return listener === undefined ? [] : [listener]
}

function certificatesOf(state: State, value: string): string[] {
  if (/[$@]/.test(value)) {
    state.remarks.add(`crt ${value} is not followed`)
    return []
  }
  const path = resolve(state.base, value)
  const names = state.reader.list(path)
  if (names === undefined) return [path]
  return names
    .filter((name) => !name.startsWith('.') && !EXTRA.test(name))
    .map((name) => join(path, name))
}

function listedIn(state: State, value: string): string[] {
  const text = state.reader.read(resolve('/', value))
  if (text === undefined) state.remarks.add(`crt-list ${value} cannot be read`)
  return (text ?? '').split('\n').flatMap((line) => {
    const [path] = wordsOf(line)
    return path === undefined ? [] : certificatesOf(state, path)
  })
}

/** Undefined where the certificate's own file holds the key, as it mostly does. */
function keyBeside({ reader, cutsExtension }: State, path: string): string | undefined {
  if (reader.read(path)?.includes('PRIVATE KEY-----') !== false) return undefined
  const keyPath = `${cutsExtension ? path.replace(/\.[^./]+$/, '') : path}.key`
  return reader.read(keyPath) === undefined ? undefined : keyPath
}

function wordsOf(line: string): string[] {
  const words: string[] = []
  for (const [word] of line.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s#"'\\])+|#.*/g)) {
    if (word.startsWith('#')) break
    words.push(
      word.replaceAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, ...groups: string[]) => {
        const [quoted, plain, escaped] = groups
        return quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? escaped ?? ''
      }),
    )
  }
  return words
}
