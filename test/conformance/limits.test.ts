// What the hub bounds: docs/protocol.md LIM. Each limit is set low here, so that reaching it is quick.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statfs } from 'node:fs/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { createKeyAndCsr, enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { useCa } from '../support/use-hub.ts'
import {
  assertOk,
  assertRefused,
  exchange,
  connect,
  post,
  postBytes,
  put,
  send,
  type WireReply,
} from '../support/wire-client.ts'

const { startHub, startHubProcess } = useCa()

function assertLimited(reply: WireReply): void {
  assertRefused(reply, 429, 'rate_limited')
  assert.match(reply.headers['retry-after'] ?? '', /^[1-9]\d*$/)
}

describe('rates', () => {
  let hub: TestHub
  before(async () => {
    hub = await startHub({
      SVC_LIMIT_ENROLL_FAILURES: '5',
      SVC_LIMIT_EVENTS: '1',
      SVC_LIMIT_PROOFS: '1',
      SVC_TRUSTED_PROXIES: '127.0.0.0/8',
    })
  })
  after(() => hub?.[Symbol.asyncDispose]())

  const guess = (address: string, body: object = { token: 'svct_guess' }): Promise<WireReply> =>
    send(
      { port: hub.ports.enroll },
      {
        method: 'POST',
        path: '/v1/enroll',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ hostname: 'h', role: 'r', csr_pem: 'c', ...body }),
      },
    )

  test('[LIM-11] [ERR-24] [SRF-18] [ENV-19] guesses of one address are slowed down, those of others are not', async () => {
    for (let count = 0; count < 5; count += 1) {
      assertRefused(await guess('192.0.2.1'), 401, 'token_not_found')
    }
    assertLimited(await guess('192.0.2.1'))
    assertRefused(await guess('192.0.2.2'), 401, 'token_not_found')
  })

  test('[LIM-11] a body without a token counts, a known token is never answered 429', async () => {
    const address = '192.0.2.3'
    for (let count = 0; count < 5; count += 1) {
      assertRefused(await guess(address, { token: 1 }), 400, 'request_invalid')
    }
    assertLimited(await guess(address, { token: 1 }))
    const hostname = 'known'
    const token = await hub.createToken({ hostname })
    const wrongRole = { token, hostname, role: 'other' }
    assertRefused(await guess(address, wrongRole), 403, 'role_mismatch')
    const { csrPem } = await createKeyAndCsr(hostname)
    assertOk(await guess(address, { token, hostname, role: 'web', csr_pem: csrPem }))
  })

  test('[LIM-45] proofs for one agent are slowed down after five minutes’ worth at once', async () => {
    const { mtls } = await enrollHost(hub, 'doubter')
    const ask = () => send(mtls, { path: '/v1/log/consistency?from=0&to=0' })
    await waitUntil(
      'the first checkpoint',
      async () => (await send(mtls, { path: '/v1/log' })).status === 200 || undefined,
    )
    for (let count = 0; count < 5; count += 1) assertOk(await ask())
    assertLimited(await ask())
    assertOk(await post(mtls, '/v1/events', { tipo_evento: 'agent_started', payload: {} }))
  })

  test('[LIM-12] events of one agent are slowed down after a burst', async () => {
    const host = await enrollHost(hub, 'talker')
    const other = await enrollHost(hub, 'other')
    const event = { tipo_evento: 'agent_started', payload: {} }
    const statuses: number[] = []
    for (let count = 0; count < 20; count += 1) {
      const reply = await post(host.mtls, '/v1/events', event)
      statuses.push(reply.status)
      if (reply.status === 429) assertLimited(reply)
    }
    assert.equal(
      statuses.slice(0, 10).every((status) => status === 200),
      true,
    )
    assert.ok(statuses.includes(429), String(statuses))
    assertOk(await post(other.mtls, '/v1/events', event))
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  })

  test('[SRF-9] an agent over its rate is told so before its body is looked at, or is there at all', async () => {
    const host = await enrollHost(hub, 'thrower')
    const statuses: number[] = []
    while (statuses.length < 30) {
      // Once it is limited, each of these takes what it has got back since.
      statuses.push((await postBytes(host.mtls, '/v1/events', '{')).status)
      statuses.push((await put(host.mtls, '/v1/recipient', { recipient: 1 })).status)
    }
    assert.deepEqual([...new Set(statuses)], [400, 429])
    // Opened before: it would get something back meanwhile.
    const socket = await connect(host.mtls)
    while ((await postBytes(host.mtls, '/v1/events', '{')).status !== 429);
    const head =
      'POST /v1/events HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'
    const answer = await exchange(socket, head, (text) => text.endsWith('}'))
    assert.match(answer, /^HTTP\/1\.1 429 /)
    socket.destroy()
  })

  test('[SRF-9] what no body is read for costs an agent nothing of its rate', async () => {
    const host = await enrollHost(hub, 'wordy')
    for (let count = 0; count < 12; count += 1) {
      const reply = await postBytes(host.mtls, '/v1/events', Buffer.alloc(65_537, ' '))
      assertRefused(reply, 413, 'body_too_large')
    }
    assertOk(await post(host.mtls, '/v1/events', { tipo_evento: 'agent_started', payload: {} }))
  })
})

describe('certificates', () => {
  test('[LIM-13] of one agent are slowed down after a burst of 300', async () => {
    await using hub = await startHub({})
    const host = await enrollHost(hub, 'greedy')
    // A CSR for another host counts, and costs the CA nothing.
    const { csrPem } = await createKeyAndCsr('other')
    const statuses = new Set<number>()
    for (let count = 0; count < 320 && !statuses.has(429); count += 1) {
      const reply = await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
      statuses.add(reply.status)
      assert.ok(reply.status === 403 ? count < 320 : count >= 300, `${reply.status} at ${count}`)
    }
    assert.deepEqual([...statuses], [403, 429])
  })
})

describe('sizes', () => {
  test('[LIM-1] [LIM-2] [LIM-3] [LIM-4] [LIM-14] each has a variable', async () => {
    await using hub = await startHub({
      SVC_LIMIT_BODY: '2000',
      SVC_LIMIT_CSR: '300',
      SVC_LIMIT_EVENT_PAYLOAD: '100',
      SVC_LIMIT_JSON_DEPTH: '4',
    })
    const enroll = { port: hub.ports.enroll }
    assertRefused(await postBytes(enroll, '/v1/enroll', ' '.repeat(2001)), 413, 'body_too_large')
    const long = { token: 't', hostname: 'h', role: 'r', csr_pem: 'x'.repeat(301) }
    assertRefused(await post(enroll, '/v1/enroll', long), 400, 'request_invalid')
    assertRefused(await postBytes(enroll, '/v1/enroll', '[[[[[]]]]]'), 400, 'request_invalid')
  })

  test('[LIM-35] names and strings of one body are bounded: 256 of a stranger, 4,096 of an agent', async () => {
    await using hub = await startHub({ SVC_LIMIT_EVENT_PAYLOAD: '0' })
    const host = await enrollHost(hub, 'stringy')
    const strings = (count: number): string[] => Array.from({ length: count }, () => '\\"')
    const enroll = { port: hub.ports.enroll }
    const stranger = { token: 't', hostname: 'h', role: 'r', csr_pem: 'c' }
    // Four fields are eight of them; the field and its strings are the others.
    const most = { ...stranger, more: strings(256 - 8 - 1) }
    assertRefused(await post(enroll, '/v1/enroll', most), 401, 'token_not_found')
    const beyond = { ...stranger, more: strings(256 - 8) }
    assertRefused(await post(enroll, '/v1/enroll', beyond), 400, 'request_invalid')
    const event = (count: number): object => ({ tipo_evento: 'x', payload: { a: strings(count) } })
    assertOk(await post(host.mtls, '/v1/events', event(4096 - 4)))
    assertRefused(await post(host.mtls, '/v1/events', event(4096 - 3)), 400, 'request_invalid')
  })

  test('[LIM-14] 0 lifts a limit', async () => {
    await using hub = await startHub({ SVC_LIMIT_BODY: '0' })
    const enroll = { port: hub.ports.enroll }
    const body = { token: 't', hostname: 'h', role: 'r', csr_pem: 'c', more: 'x'.repeat(200_000) }
    assertRefused(await post(enroll, '/v1/enroll', body), 401, 'token_not_found')
  })

  test('[LIM-14] a limit that is no number stops the start', async () => {
    await assert.rejects(
      startHub({ SVC_LIMIT_EVENTS: 'many' }),
      /SVC_LIMIT_EVENTS: many is not a whole number/,
    )
  })
})

describe('free space', () => {
  test('[LIM-20] [LIM-14] below the floor events are refused, all else goes on, and they are taken when it is lifted', async () => {
    await using hub = await startHub({ SVC_LIMIT_FREE_SPACE: '9'.repeat(12) })
    const host = await enrollHost(hub, 'full')
    const report = (): Promise<WireReply> =>
      post(host.mtls, '/v1/events', { tipo_evento: 'agent_started', payload: {} })
    for (let count = 0; count < 3; count += 1) {
      const reply = await report()
      assertRefused(reply, 503, 'unavailable')
      assert.match(reply.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    }
    const { csrPem } = await createKeyAndCsr('full')
    assertOk(await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem }))
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
    const lines = hub.logEntries().filter(({ module }) => module === 'hub.disk')
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['Disk nearly full, the hub refuses events'],
    )
    await hub.stop()
    await hub.start({ SVC_LIMIT_FREE_SPACE: '0' })
    assertOk(await report())
  })
})

describe('the reserve of free space', () => {
  test('[LIM-41] below the floor each agent may tell a little, whatever another sends', async (t) => {
    const { bavail, bsize } = await statfs(tmpdir())
    // So that a third of what is free may go, or a quarter more come, while this runs.
    const floorBytes = Math.round(bavail * bsize * 1.3)
    if (floorBytes >= 1e12) return t.skip('the disk is larger than a limit can be')
    await using hub = await startHub({ SVC_LIMIT_FREE_SPACE: String(floorBytes) })
    const flooding = await enrollHost(hub, 'flooding')
    const honest = await enrollHost(hub, 'honest')
    const report = (from: EnrolledHost, size: number): Promise<WireReply> =>
      post(from.mtls, '/v1/events', {
        tipo_evento: 'cert_renewed',
        payload: { text: 'x'.repeat(size) },
      })
    for (let count = 0; count < 2; count += 1) assertOk(await report(flooding, 10_000))
    for (let count = 0; count < 5; count += 1) {
      assertRefused(await report(flooding, 10), 503, 'unavailable')
    }
    for (let count = 0; count < 12; count += 1) assertOk(await report(honest, 200))
    const { csrPem } = await createKeyAndCsr('flooding')
    assertOk(await post(flooding.mtls, '/v1/certs/issue', { csr_pem: csrPem }))
    const lines = hub.logEntries().filter(({ module }) => module === 'hub.disk')
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['Disk nearly full, each agent has a little room for events'],
    )
    await hub.stop()
    await hub.start({ SVC_LIMIT_FREE_SPACE: '0' })
    assertOk(await report(flooding, 10))
  })
})

describe('the bytes of events', () => {
  test('[LIM-40] [LIM-42] beyond those of a day an agent is told to wait, others are not, and a restart forgives nothing', async () => {
    await using hub = await startHubProcess({ SVC_LIMIT_EVENT_BYTES: '50000' })
    const host = await enrollHost(hub, 'talker')
    const other = await enrollHost(hub, 'other')
    const report = (from = host): Promise<WireReply> => {
      const payload = { text: 'x'.repeat(15_000) }
      return post(from.mtls, '/v1/events', { tipo_evento: 'flood', payload })
    }
    for (let count = 0; count < 4; count += 1) assertOk(await report())
    const refused = await report()
    assertLimited(refused)
    // 14 kB more than a day's worth, at 50 kB a day.
    const waitSeconds = Number(refused.headers['retry-after'])
    assert.ok(waitSeconds > 20_000 && waitSeconds < 26_000, String(waitSeconds))
    assertOk(await report(other))
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
    await hub.stop('SIGKILL')
    await hub.start()
    assertLimited(await report())
    assertOk(await report(other))
  })

  test('[LIM-40] [BLB-3] [LIM-14] a change of the recipient counts, and the limit can be lifted', async () => {
    await using hub = await startHub({ SVC_LIMIT_EVENT_BYTES: '2000' })
    const host = await enrollHost(hub, 'changing')
    const tell = (last: string): Promise<WireReply> => {
      const recipient = `age1pq1${'q'.repeat(1951)}${last}`
      return put(host.mtls, '/v1/recipient', { recipient })
    }
    assertOk(await tell('q'))
    assertOk(await tell('p'))
    assertOk(await tell('p'))
    assertLimited(await tell('z'))
    await hub.stop()
    await hub.start({ SVC_LIMIT_EVENT_BYTES: '0' })
    assertOk(await tell('z'))
  })
})

describe('connections', () => {
  test('[LIM-18] beyond the limit of an address they are closed, and its place is free again', async () => {
    await using hub = await startHub({ SVC_LIMIT_CONNECTIONS_PER_ADDRESS: '3' })
    const port = hub.ports.health
    const open = await Promise.all(Array.from({ length: 3 }, () => openSocket(port)))
    const fourth = await openSocket(port)
    await once(fourth, 'close')
    for (const socket of open) socket.destroy()
    await waitUntil('a place', async () => (await isServed(port)) || undefined)
  })

  test('[LIM-10] [ENV-20] beyond the limit of a port they are closed', async () => {
    await using hub = await startHub({ SVC_LIMIT_CONNECTIONS: '2' })
    const open = [await openSocket(hub.ports.health), await openSocket(hub.ports.health)]
    const third = await openSocket(hub.ports.health)
    await once(third, 'close')
    for (const socket of open) socket.destroy()
  })

  test('[LIM-8] [LIM-19] handshakes under way from one address are bounded', async () => {
    await using hub = await startHub({
      SVC_LIMIT_HANDSHAKES_PER_ADDRESS: '2',
      SVC_LIMIT_HANDSHAKE_SECONDS: '2',
    })
    const silent = await Promise.all([openSocket(hub.ports.mtls), openSocket(hub.ports.mtls)])
    const third = await openSocket(hub.ports.mtls)
    await once(third, 'close')
    // Those that never say hello are cut, and an honest agent gets in.
    await Promise.all(silent.map((socket) => once(socket, 'close')))
    const host = await enrollHost(hub, 'honest')
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  })

  test('[LIM-6] [LIM-7] [ERR-20] a request that does not come to its end is answered 408', async () => {
    await using hub = await startHub({
      SVC_LIMIT_HEADERS_SECONDS: '1',
      SVC_LIMIT_REQUEST_SECONDS: '2',
    })
    for (const beginning of [
      'POST /v1/enroll HTTP/1.1\r\n',
      'POST /v1/enroll HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ]) {
      const answer = await exchange(await openSocket(hub.ports.enroll), beginning)
      assert.match(answer, /^HTTP\/1\.1 408 /)
      assert.match(answer, /\{"error":"request_timeout"\}$/)
    }
  })
})

async function openSocket(port: number): Promise<Socket> {
  const socket = connectTcp(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

async function isServed(port: number): Promise<boolean> {
  try {
    return (await send({ port }, { path: '/health' })).status === 200
  } catch {
    return false
  }
}
