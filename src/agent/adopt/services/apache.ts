// Apache's configuration: a directive a line, sections in angle brackets, includes; a virtual host inherits from the server.

import { join, resolve } from 'node:path'
import {
  type CertificateUse,
  nameToAskFor,
  parseListener,
  type ServiceFindings,
} from '../certificate-use.ts'
import type { ConfigReader } from '../config-reader.ts'

interface Host {
  readonly addresses: readonly string[]
  readonly names: string[]
  engine: boolean | undefined
  readonly certificates: string[]
  keyPath: string | undefined
  chainPath: string | undefined
}

interface State {
  readonly reader: ConfigReader
  root: string
  readonly variables: Map<string, string>
  readonly server: Host
  readonly hosts: Host[]
  readonly remarks: Set<string>
}

const INCLUDE_DEPTH_MAX = 16

/** `root` is where relative names begin until `ServerRoot` says otherwise: the directory that Apache was started with. */
export function readApache(
  reader: ConfigReader,
  { configPath, root }: { readonly configPath: string; readonly root: string },
): ServiceFindings {
  const state: State = {
    reader,
    root,
    variables: new Map(),
    server: newHost([]),
    hosts: [],
    remarks: new Set(),
  }
  readFile(state, configPath, 0)
  const uses = state.hosts.flatMap((host) => useOf(state, host) ?? [])
  return { uses, remarks: [...state.remarks] }
}

function newHost(addresses: readonly string[]): Host {
  return {
    addresses,
    names: [],
    engine: undefined,
    certificates: [],
    keyPath: undefined,
    chainPath: undefined,
  }
}

/** A virtual host never goes over the end of its file. */
function readFile(state: State, path: string, depth: number): void {
  const text = state.reader.read(path)
  if (text === undefined || depth > INCLUDE_DEPTH_MAX) {
    state.remarks.add(`${path} is included and cannot be read`)
    return
  }
  let host = state.server
  for (const line of text.replaceAll(/\\\r?\n/g, ' ').split('\n')) {
    const words = wordsOf(line.trim())
    const name = words[0]?.toLowerCase() ?? ''
    if (name === '<virtualhost') {
      host = newHost(words.slice(1).map((word) => word.replace(/>$/, '')))
      state.hosts.push(host)
    } else if (name === '</virtualhost>') host = state.server
    else if (name === 'include' || name === 'includeoptional') {
      include(state, substitute(state, words[1] ?? ''), host, depth)
    } else readDirective(state, host, name, words.slice(1))
  }
}

/** In a virtual host it may bring directives for it: then they are read as its own. */
function include(state: State, pattern: string, host: Host, depth: number): void {
  for (const path of state.reader.expand(resolve(state.root, pattern))) {
    const inside = state.reader.list(path)
    const files = inside === undefined ? [path] : inside.map((name) => join(path, name))
    for (const file of files) {
      if (host === state.server) readFile(state, file, depth + 1)
      else readIntoHost(state, host, file, depth + 1)
    }
  }
}

function readIntoHost(state: State, host: Host, path: string, depth: number): void {
  const text = depth > INCLUDE_DEPTH_MAX ? undefined : state.reader.read(path)
  for (const line of (text ?? '').replaceAll(/\\\r?\n/g, ' ').split('\n')) {
    const [name = '', ...values] = wordsOf(line.trim())
    const isInclude = /^include(optional)?$/i.test(name)
    if (isInclude) include(state, substitute(state, values[0] ?? ''), host, depth)
    else readDirective(state, host, name.toLowerCase(), values)
  }
}

function readDirective(state: State, host: Host, name: string, values: readonly string[]): void {
  const first = substitute(state, values[0] ?? '')
  if (name === 'serverroot') state.root = first
  else if (name === 'define' && values[0] !== undefined) {
    state.variables.set(values[0], substitute(state, values[1] ?? ''))
  } else if (name === 'servername') host.names.unshift(first.replace(/^https?:\/\//, ''))
  else if (name === 'serveralias') host.names.push(...values)
  else if (name === 'sslengine') host.engine = /^(on|optional)$/i.test(first)
  else if (name === 'sslcertificatefile') host.certificates.push(first)
  else if (name === 'sslcertificatekeyfile') host.keyPath = first
  else if (name === 'sslcertificatechainfile') host.chainPath = first
  else if (name === 'mdomain' || name === '<mdomainset') {
    state.remarks.add(`${first}: mod_md of Apache gets this certificate by itself; end that first`)
  } else if (name === 'use' || name === '<macro') {
    state.remarks.add('a macro is not followed: what it puts in place is not seen')
  }
}

function useOf({ root, server, remarks }: State, host: Host): CertificateUse | undefined {
  if ((host.engine ?? server.engine) !== true) return undefined
  const own = host.certificates.length > 0 ? host : server
  const [certificate, ...further] = own.certificates
  const serverName = nameToAskFor(host.names.map((name) => name.replace(/:\d+$/, '')))
  const subject = `the virtual host ${serverName ?? host.addresses.join(' ')}`
  if (certificate === undefined) return undefined
  const paths = [certificate, own.keyPath, own.chainPath]
  const odd = paths.find((path) => path?.includes('${') === true || path?.startsWith('pkcs11:'))
  if (odd !== undefined || further.length > 0) {
    const why =
      odd === undefined
        ? `has ${own.certificates.length} certificates, and one is adopted only`
        : `has a certificate that cannot be followed: ${odd}`
    remarks.add(`${subject} ${why}`)
    return undefined
  }
  const absolute = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(root, path)
  const certificatePath = resolve(root, certificate)
  const keyPath = absolute(own.keyPath)
  return {
    certificatePath,
    keyPath: keyPath === certificatePath ? undefined : keyPath,
    chainPath: absolute(own.chainPath),
    listeners: host.addresses.flatMap((address) => parseListener(address, 443) ?? []),
    serverName,
  }
}

/** What is defined nowhere here, as what the environment has, stays as it is, and is seen to be no path. */
function substitute({ variables }: State, text: string): string {
  return text.replaceAll(/\$\{([^}]+)\}/g, (whole, name: string) => variables.get(name) ?? whole)
}

function wordsOf(line: string): string[] {
  if (line.startsWith('#')) return []
  return (line.match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\S+/g) ?? []).map((word) =>
    /^(["']).*\1$/.test(word) ? word.slice(1, -1).replaceAll(/\\(["'\\])/g, '$1') : word,
  )
}
