// HAProxy as docs/high-availability.md shows it, before two hubs that share a vault.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { createKeyAndCsr, type EnrolledHost, readIdentity } from '../support/enrolled-host.ts'
import { findFreePort } from '../support/free-port.ts'
import { HUB_NAME, WITH_ENROLL_TLS } from '../support/hub.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { type RunningProgram, startTool, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { type SeveralHubs, startSeveralHubs } from '../support/several-hubs.ts'
import { openStream, type StreamClient } from '../support/stream-client.ts'
import { startTestCa } from '../support/test-hub.ts'
import { assertOk, post, send, type Target } from '../support/wire-client.ts'
import { readReferenceFile } from './reference-settings.ts'

const PROGRAMS = [postgresProgram('postgres'), 'haproxy']
/** Two checks in vain, a second apart, and what else the machine does. */
const SEEN_MS_MAX = 15_000

describe('HAProxy before two hubs', { skip: skipUnlessRunnable(PROGRAMS) }, () => {
  let ca: RunningCa
  let hubs: SeveralHubs
  let directory: string
  let haproxy: RunningProgram
  let agents: number
  let enrolment: number
  before(async () => {
    ca = await startTestCa()
    const environment = { ...WITH_ENROLL_TLS, SVC_METRICS_BIND: '127.0.0.1:0' }
    hubs = await startSeveralHubs(2, { caEnvironment: ca.environment, environment })
    directory = await mkdtemp(join(tmpdir(), 'haproxy-'))
    ;[agents, enrolment] = [await findFreePort(), await findFreePort()]
    haproxy = await startProxy()
  })
  after(async () => {
    haproxy.kill('SIGKILL')
    await haproxy.ended
    await rm(directory, { recursive: true })
    await hubs[Symbol.asyncDispose]()
    await ca[Symbol.asyncDispose]()
  })

  async function startProxy(): Promise<RunningProgram> {
    const replacements = new Map([
      ['bind :8443', `bind 127.0.0.1:${agents}`],
      ['bind :8446', `bind 127.0.0.1:${enrolment}`],
    ])
    for (const [index, hub] of hubs.all.entries()) {
      const { mtls, enrollTls = 0 } = hub.ports
      replacements.set(`10.0.0.1${index + 1}:8443`, `${at(mtls)} port ${metricsPort(hub)}`)
      replacements.set(`10.0.0.1${index + 1}:8446`, `${at(enrollTls)} port ${metricsPort(hub)}`)
    }
    const path = join(directory, 'haproxy.cfg')
    await writeFile(path, await readReferenceFile('/etc/haproxy/haproxy.cfg', replacements))
    return startTool('haproxy', ['-db', '-f', path])
  }

  const ask = async (target: Target): Promise<number> => {
    try {
      return (await send(target, { path: '/v1/manifest' })).status
    } catch {
      return 0
    }
  }
  const untilServed = (target: Target): Promise<true> =>
    waitUntil('an answer', async () => (await ask(target)) === 200 || undefined, SEEN_MS_MAX)

  /** Through the proxy alone. */
  async function enrol(hostname: string): Promise<Pick<EnrolledHost, 'mtls'>> {
    const [hub] = hubs.all
    assert.ok(hub)
    const token = await hub.createToken({ hostname })
    const { keyPem, csrPem } = await createKeyAndCsr(hostname)
    const target = {
      port: enrolment,
      tls: { ca: await readFile(ca.rootPath, 'utf8'), servername: HUB_NAME },
    }
    const body = { token, hostname, role: 'web', csr_pem: csrPem }
    const reply = await waitUntil('the proxy', () =>
      post(target, '/v1/enroll', body).catch(() => undefined),
    )
    assertOk(reply)
    const { certPem, caPem } = readIdentity(reply, keyPem)
    const tls = { ca: caPem, cert: certPem, key: keyPem, servername: HUB_NAME }
    return { mtls: { port: agents, tls } }
  }

  /** One at each hub, once the proxy has found both. */
  function openStreams(hosts: readonly Pick<EnrolledHost, 'mtls'>[]): Promise<StreamClient[]> {
    return waitUntil('a stream at each hub', async () => {
      const streams: StreamClient[] = []
      for (const host of hosts) streams.push(await openStream(host.mtls))
      const counts = await Promise.all(hubs.all.map(countStreams))
      if (counts.every((count) => count === 1)) return streams
      for (const stream of streams) stream.close()
      return undefined
    })
  }

  test('[HUB-3] agents of a hub that is killed, and of one that stands still, are served by the other', async () => {
    // A stream each, at the two hubs: of one host the second stream would end the first.
    const hosts = [await enrol('web-1.example.org'), await enrol('web-2.example.org')]
    const [{ mtls } = assert.fail()] = hosts
    assert.equal(await ask(mtls), 200)
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      const streams = await openStreams(hosts)
      const [gone] = hubs.all
      assert.ok(gone)
      process.kill(gone.pid, signal)
      await untilServed(mtls)
      await waitUntil(
        'the stream of that hub to end',
        () => streams.some((stream) => stream.hasEnded()) || undefined,
        SEEN_MS_MAX,
      )
      assert.ok(!streams.every((stream) => stream.hasEnded()), 'and no other')
      for (const stream of streams) stream.close()
      await comeBack(gone, signal)
      await untilServed(mtls)
    }
  })
})

async function countStreams(hub: HubProcess): Promise<number> {
  const { agentes } = await hub.admin<{
    agentes: readonly { readonly online_since: string | null }[]
  }>('GET', '/v1/admin/agentes')
  return agentes.filter(({ online_since: since }) => since !== null).length
}

async function comeBack(hub: HubProcess, signal: 'SIGKILL' | 'SIGSTOP'): Promise<void> {
  if (signal === 'SIGSTOP') {
    process.kill(hub.pid, 'SIGCONT')
    return
  }
  const { mtls, enrollTls = 0 } = hub.ports
  const binds = {
    SVC_MTLS_BIND: at(mtls),
    SVC_ENROLL_TLS_BIND: at(enrollTls),
    SVC_METRICS_BIND: at(metricsPort(hub)),
  }
  await hub.stop('SIGKILL')
  await hub.start(binds)
}

function metricsPort(hub: HubProcess): number {
  return Number(hub.logEntries().find(({ msg }) => msg === 'metrics listening')?.['port'])
}

function at(port: number): string {
  return `127.0.0.1:${port}`
}
