// What refusals leave in the log, whoever asks for them and however often: docs/protocol.md LOG-4.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import type { LogEntry, TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { useCa } from '../support/use-hub.ts'
import {
  connect,
  connectSecurely,
  exchange,
  post,
  send,
  type Target,
} from '../support/wire-client.ts'

const { ca, startHub } = useCa()
const ROUNDS = 5

/** Of refusals, once there is one with this code. */
async function linesWith(hub: TestHub, error: string): Promise<LogEntry[]> {
  const find = (): LogEntry[] => hub.logEntries().filter((entry) => entry['error'] === error)
  await waitUntil(error, () => (find().length > 0 ? true : undefined))
  return find()
}

test('[LOG-4] [SRF-7] refusals of strangers and of agents are a line each, with a reason, however often', async () => {
  await using hub = await startHub()
  const host = await enrollHost(hub, 'logged.example')
  const enroll = { port: hub.ports.enroll }
  const token = await hub.createToken({ hostname: 'other.example' })
  const known = { token, hostname: 'wrong.example', role: 'web', csr_pem: 'x' }
  const unknown = { ...known, token: 'svct_unknown' }
  for (let round = 0; round < ROUNDS; round += 1) {
    await send({ port: hub.ports.health }, { path: `/stray-${round}` })
    await send(host.mtls, { path: `/stray-${round}` })
    await post(enroll, '/v1/enroll', unknown)
    await post(enroll, '/v1/enroll', known)
    await post(enroll, '/v1/recover', { cert_pem: host.certPem, csr_pem: 'x', proof: 'y' })
  }
  const reasons = new Map<string, unknown>([
    ['token_not_found', 'No enrolment token has this SHA-256.'],
    [
      'hostname_mismatch',
      'the host asked as "wrong.example", and the token is for another hostname',
    ],
    [
      'recovery_refused',
      /^the proof is not signed by the key of the certificate, serial [0-9a-f]+$/,
    ],
  ])
  for (const [error, wanted] of reasons) {
    const [line, ...more] = await linesWith(hub, error)
    assert.equal(more.length, 0, error)
    assert.equal(line?.['msg'], 'Request refused')
    const reason = String(line?.['reason'])
    if (wanted instanceof RegExp) assert.match(reason, wanted)
    else assert.equal(reason, wanted)
  }
  const strays = await linesWith(hub, 'route_not_found')
  assert.deepEqual(strays.map(({ module }) => String(module)).toSorted(), [
    'hub.health',
    'hub.mtls',
  ])
})

test('[LOG-4] handshakes that fail are a line, which says why', async () => {
  await using hub = await startHub()
  const trusted = await readFile(ca.rootPath, 'utf8')
  const target: Target = { port: hub.ports.mtls, tls: { ca: trusted, servername: 'hub.test' } }
  for (let round = 0; round < ROUNDS; round += 1) {
    const socket = await connectSecurely(target).catch(() => undefined)
    await new Promise((resolve) => {
      if (socket === undefined || socket.destroyed) resolve(undefined)
      else
        socket
          .on('error', () => undefined)
          .once('close', resolve)
          .resume()
    })
  }
  const [line, ...more] = await linesWith(hub, 'handshake_failed')
  assert.equal(more.length, 0)
  const { level, msg, remote, reason } = line ?? {}
  assert.deepEqual([level, msg, remote], ['info', 'Handshake failed', '127.0.0.1'])
  assert.match(String(reason), /peer did not return a certificate/)
})

test('[LOG-4] a handshake that fails at once is logged with its address too', async () => {
  await using hub = await startHub()
  const socket = await connect({ port: hub.ports.mtls })
  // RFC 8446 5.1 and 4: a record of a handshake with a hello that is none.
  await exchange(socket, Buffer.from('1603010008010000040000000000', 'hex'))
  const [line] = await linesWith(hub, 'handshake_failed')
  assert.equal(line?.['remote'], '127.0.0.1')
})
