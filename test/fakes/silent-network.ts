// A network between two machines that swallows everything for a while: no end and no error reaches anybody, as when a cable is pulled.

import type { Socket } from 'node:net'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface SilentNetwork extends TcpProxy {
  silence(): void
  /** What was on its way arrives, as TCP sends it again. */
  heal(): void
}

export async function startSilentNetwork(target: {
  readonly port: number
}): Promise<SilentNetwork> {
  let isSilent = false
  let waiting: (() => void)[] = []
  const pass = (deliver: () => void): void => {
    if (isSilent) waiting.push(deliver)
    else deliver()
  }
  const lead = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => pass(() => void (to.writable && to.write(chunk))))
    from.on('close', () => pass(() => void to.destroy()))
  }
  const proxy = await startTcpProxy(target, (client, upstream) => {
    lead(client, upstream)
    lead(upstream, client)
  })
  return {
    ...proxy,
    silence: () => {
      isSilent = true
    },
    heal: () => {
      isSilent = false
      for (const deliver of waiting) deliver()
      waiting = []
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  }
}
