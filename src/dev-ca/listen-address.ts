import { isIP } from 'node:net'
import { UserError } from '../platform/errors.ts'

export interface ListenAddress {
  /** An IP address, or a name that resolves to one of this machine's. */
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
}

/** Reads `127.0.0.1:9000`, `[::1]:9000` or `localhost:9000`. */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:[\]]+)):(?<port>\d{1,5})$/.exec(text)
  const { bracketed, plain, port } = match?.groups ?? {}
  const host = bracketed ?? plain
  const isValid =
    host !== undefined && Number(port) <= 65_535 && (bracketed === undefined || isIP(host) === 6)
  if (isValid) return { host, port: Number(port) }
  throw new UserError('listen_address_invalid', `not a listen address: ${text}`, {
    hint: 'write it as ADDRESS:PORT, such as 127.0.0.1:9000 or [::1]:9000',
  })
}
