import { connect, type ConnectionOptions, type SecureVersion } from 'node:tls'
import { HUB_NAME } from '../../test/support/hub.ts'

export interface HandshakeOptions {
  readonly port: number
  /** Of 127.0.0.0/8, from which it comes. */
  readonly address: string
  readonly cert: string
  readonly key: string
  readonly version?: SecureVersion
}

/** Whether a request was answered after it; resolves when the connection is closed. */
export function shakeHandsOnce(told: HandshakeOptions): Promise<boolean> {
  const { port, address, cert, key, version } = told
  return new Promise((resolve) => {
    const options: ConnectionOptions & { readonly localAddress: string } = {
      host: '127.0.0.1',
      port,
      localAddress: address,
      cert,
      key,
      servername: HUB_NAME,
      rejectUnauthorized: false,
      ...(version && { minVersion: version, maxVersion: version }),
    }
    const socket = connect(options)
    let isServed = false
    socket.on('secureConnect', () => socket.write('GET /v1/manifest HTTP/1.1\r\nHost: hub\r\n\r\n'))
    socket.on('data', () => {
      isServed = true
      socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.setTimeout(20_000, () => socket.destroy())
    socket.on('close', () => resolve(isServed))
  })
}
