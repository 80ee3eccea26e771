// HTTP through the proxy that HTTPS_PROXY names: by CONNECT, unless NO_PROXY names the server.

import type { EnvHttpProxyAgent } from 'undici'
import { CONNECT_TIMEOUT_MS, type HttpConnections } from './http-connections.ts'

export interface ProxyOptions {
  readonly httpsProxy: string
  readonly noProxy: string | undefined
  readonly readTrust: () => string | readonly string[]
}

export function createProxiedConnections(options: ProxyOptions): HttpConnections {
  let opened: Promise<EnvHttpProxyAgent> | undefined

  return {
    async send({ url, method, headers, body, signal, silenceMs }) {
      const { request } = await import('undici')
      opened ??= openAgent(options)
      return request(url, {
        dispatcher: await opened,
        method,
        headers,
        body: body ?? null,
        signal,
        ...(silenceMs && { headersTimeout: silenceMs.headers, bodyTimeout: silenceMs.body }),
      })
    },
    close: async () => (await opened)?.close(),
    destroy: async () => (await opened)?.destroy(),
  }
}

/** The library is large, and few hosts have a proxy. */
async function openAgent({
  httpsProxy,
  noProxy,
  readTrust,
}: ProxyOptions): Promise<EnvHttpProxyAgent> {
  const { EnvHttpProxyAgent: Agent } = await import('undici')
  const trust = readTrust()
  const ca = typeof trust === 'string' ? trust : [...trust]
  const connect = { ca, timeout: CONNECT_TIMEOUT_MS }
  return new Agent({
    httpsProxy,
    // Given even when empty: otherwise undici would read the environment behind our back.
    httpProxy: '',
    noProxy: noProxy ?? '',
    allowH2: false,
    connect,
    requestTls: connect,
  })
}
