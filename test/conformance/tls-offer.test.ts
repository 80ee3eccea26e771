// What the mutual TLS port offers to one who may come in: docs/protocol.md SRF and LIM.

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

describe('[LIM-31] the key exchange on port 8443', () => {
  const groups: Readonly<Record<string, string>> = {
    'X25519:X25519MLKEM768': 'X25519MLKEM768',
    X25519: 'X25519',
    'P-256': 'prime256v1',
    'P-521:P-384': 'secp384r1',
  }
  for (const [offered, name] of Object.entries(groups)) {
    test(`is ${name} with a client of ${offered}`, async () => {
      const socket = await connectBy({ maxVersion: 'TLSv1.3', ecdhCurve: offered })
      assert.equal((socket.getEphemeralKeyInfo() as { readonly name?: string }).name, name)
      socket.destroy()
    })
  }

  for (const group of ['P-521', 'ffdhe2048', 'ffdhe3072']) {
    test(`is refused to a client of ${group} alone, which would cost several times as much`, async () => {
      await assert.rejects(
        connectBy({ maxVersion: 'TLSv1.3', ecdhCurve: group }),
        /handshake failure/,
      )
    })
  }
})
