// `probe`, `probe_name` and `probe_protocol`: where the new certificate must be served afterwards.

import { isIP, isIPv6 } from 'node:net'
import { quote, type TableReader } from './parse-targets-table.ts'
import type { TargetProbe } from './target.ts'

export const PROBE_KEYS = ['probe', 'probe_name', 'probe_protocol'] as const

const HOST_CHARACTERS_MAX = 253
const HOST_LABEL = /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/

export function parseProbe(reader: TableReader): TargetProbe | undefined {
  const protocol = reader.word('probe_protocol', ['tls', 'postgres']) ?? 'tls'
  const serverName = parseServerName(reader)
  if (!reader.has('probe')) {
    for (const key of ['probe_name', 'probe_protocol']) {
      if (reader.has(key)) reader.refuse(key, `${key} needs probe`)
    }
    return undefined
  }
  const text = reader.text('probe')
  if (text === undefined) return undefined
  const address = parseAddress(text)
  if (address !== undefined) return { ...address, protocol, serverName }
  return reader.refuse('probe', `probe must be host:port or [IPv6 address]:port: ${quote(text)}`)
}

function parseServerName(reader: TableReader): string | undefined {
  const text = reader.text('probe_name')
  if (text === undefined) return undefined
  // RFC 6066, section 3: an address is no server name.
  if (isHostName(text) && isIP(text) === 0) return text
  return reader.refuse('probe_name', `probe_name must be a host name: ${quote(text)}`)
}

function parseAddress(text: string): Pick<TargetProbe, 'host' | 'port'> | undefined {
  const [, ipv6, name, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (!(port >= 1 && port <= 65_535)) return undefined
  if (ipv6 !== undefined) return isIPv6(ipv6) ? { host: ipv6, port } : undefined
  return name !== undefined && isHostName(name) ? { host: name, port } : undefined
}

function isHostName(text: string): boolean {
  return (
    text.length <= HOST_CHARACTERS_MAX && text.split('.').every((label) => HOST_LABEL.test(label))
  )
}
