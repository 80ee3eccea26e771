import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import { Agent, request } from 'undici'
import { type Clock, systemClock } from '../platform/clock.ts'
import { createLogging, type Logger } from '../platform/logger.ts'
import { createCaDirectory, rootPathOf } from './ca-directory.ts'
import { type RunningDevCa, serveDevCa } from './serve.ts'

const HOUR_MS = 3_600_000
const POLL_MS = 10
const WAIT_MS_MAX = 5000

/**
 * A clock that stands still until a test moves it; whoever sleeps wakes at every move. It starts in the past, so that
 * what is issued before and after the moves is valid by the clock of TLS, which is the real one.
 */
function createManualClock(): Clock & { advance(durationMs: number): void } {
  let nowMs = Date.now() - 13 * HOUR_MS
  let wake = new AbortController()
  return {
    now: () => new Date(nowMs),
    sleep: (_durationMs, signal) =>
      new Promise((resolve, reject) => {
        wake.signal.addEventListener('abort', () => resolve(), { once: true })
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      }),
    advance: (durationMs) => {
      nowMs += durationMs
      wake.abort()
      wake = new AbortController()
    },
  }
}

describe('serving a CA', () => {
  const clock = createManualClock()
  const stop = new AbortController()
  let parent = ''
  let rootPem = ''
  let ca: RunningDevCa
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'serve-'))
    const directory = join(parent, 'ca')
    const settings = {
      name: 'Test',
      provisionerName: 'cartorio',
      dnsNames: ['localhost', '127.0.0.1'],
      listen: '127.0.0.1:9000',
      certDurationMs: 24 * HOUR_MS,
    }
    await createCaDirectory(directory, settings, clock)
    rootPem = await readFile(rootPathOf(directory), 'utf8')
    const logger = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
    ca = await serveDevCa({
      directory,
      listen: '127.0.0.1:0',
      clock,
      logger: logger.forModule('ca') satisfies Logger,
      signal: stop.signal,
    })
  })
  after(async () => {
    stop.abort()
    await ca.ended
    await rm(parent, { recursive: true, force: true })
  })

  const post = async (path: string, body: string): Promise<{ status: number; text: string }> => {
    const dispatcher = new Agent({ connect: { ca: rootPem }, allowH2: false })
    try {
      const reply = await request(`${ca.url}${path}`, { method: 'POST', body, dispatcher })
      return { status: reply.statusCode, text: await reply.body.text() }
    } finally {
      await dispatcher.destroy()
    }
  }

  const servedSerial = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname: host, port } = new URL(ca.url)
      const socket = connect({ host, port: Number(port), ca: rootPem })
      socket.once('error', reject)
      socket.once('secureConnect', () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      })
    })

  test('answers a body over 64 KiB with 413, read or not', async () => {
    for (const bytes of [65 * 1024, 900 * 1024]) {
      const { status, text } = await post('/1.0/sign', 'x'.repeat(bytes))
      assert.equal(status, 413)
      assert.equal(text, '{"status":413,"message":"request body too large"}')
    }
  })

  test('has a certificate that its root vouches for, and renews it before it runs out', async () => {
    const first = await servedSerial()
    clock.advance(11 * HOUR_MS)
    assert.equal(await servedSerial(), first)
    clock.advance(2 * HOUR_MS)
    const deadlineMs = Date.now() + WAIT_MS_MAX
    while ((await servedSerial()) === first) {
      assert.ok(Date.now() < deadlineMs, 'it was not renewed')
      await systemClock.sleep(POLL_MS)
    }
  })

  test('gives itself a new server certificate when the clock is set back to before its own began', async () => {
    const first = await servedSerial()
    clock.advance(-HOUR_MS)
    const deadlineMs = Date.now() + WAIT_MS_MAX
    while ((await servedSerial()) === first) {
      assert.ok(Date.now() < deadlineMs, 'it was not renewed')
      await systemClock.sleep(POLL_MS)
    }
  })
})
