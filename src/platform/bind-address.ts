import { isIP } from 'node:net'

export interface BindAddress {
  readonly host: string
  readonly port: number
}

/** `0.0.0.0:8443`, `[::1]:8443` or `name:8443`; undefined for anything else. */
export function readBindAddress(text: string): BindAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  const isHost = bracketed === undefined ? host !== undefined : isIP(bracketed) === 6
  return host !== undefined && isHost && port <= 65_535 ? { host, port } : undefined
}
