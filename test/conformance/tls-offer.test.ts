// What the mutual TLS port offers to one who may come in: docs/protocol.md SRF.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import { useHub } from '../support/use-hub.ts'

let host: EnrolledHost
useHub(async (hub) => {
  host = await enrollHost(hub, 'web-01')
})

async function connectBy(options: ConnectionOptions): Promise<TLSSocket> {
  const { port, tls } = host.mtls
  const socket = connect({ host: '127.0.0.1', port, ...tls, maxVersion: 'TLSv1.2', ...options })
  await once(socket, 'secureConnect')
  return socket
}

describe('TLS 1.2 on port 8443', () => {
  for (const suite of ['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305']) {
    test(`[SRF-21] has ${suite}`, async () => {
      const socket = await connectBy({ ciphers: suite })
      assert.equal(socket.getCipher().name, suite)
      socket.destroy()
    })
  }

  for (const suite of [
    'ECDHE-ECDSA-AES128-SHA',
    'ECDHE-ECDSA-AES256-SHA384',
    'AES128-GCM-SHA256',
  ]) {
    test(`[SRF-21] does not have ${suite}`, async () => {
      await assert.rejects(connectBy({ ciphers: suite }), /handshake failure/)
    })
  }

  test('[SRF-21] refuses to renegotiate', async () => {
    const socket = await connectBy({})
    const failed = once(socket, 'error') as Promise<[Error]>
    socket.renegotiate({ rejectUnauthorized: true }, () => undefined)
    const [error] = await failed
    assert.match(error.message, /no.renegotiation/i)
    socket.destroy()
  })
})
