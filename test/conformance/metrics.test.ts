// The metrics port of the hub: docs/protocol.md MET.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { HUB_METRICS } from '../../src/hub/metrics/hub-metrics.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { findFreePort } from '../support/free-port.ts'
import type { TestHub } from '../support/hub.ts'
import { failToStart } from '../support/boot-here.ts'
import { startProgram, waitUntil } from '../support/processes.ts'
import { parseSamples, scrape } from '../support/scrape.ts'
import { useCa } from '../support/use-hub.ts'
import { connect, exchange, post, send } from '../support/wire-client.ts'

const { ca, startHub } = useCa()

async function startScraped(extra: Readonly<Record<string, string>> = {}): Promise<TestHub> {
  return startHub({ SVC_METRICS_BIND: '127.0.0.1:0', ...extra })
}

/** Where its log says that the metrics are. */
async function metricsUrlOf(hub: TestHub): Promise<string> {
  const port = await waitUntil(
    'the metrics port',
    () => hub.logEntries().find(({ msg }) => msg === 'metrics listening')?.['port'],
  )
  return `http://127.0.0.1:${port as number}`
}

describe('the metrics port', () => {
  test('[MET-22] say when a checkpoint covered the whole log last, in the vault and outside', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'checkpoints-'))
    try {
      const before = Math.floor(Date.now() / 1000)
      await using hub = await startScraped({ SVC_CHECKPOINT_PATH: directory })
      const url = await metricsUrlOf(hub)
      for (const place of ['vault', 'outside']) {
        const coveredAt = await waitUntil(`a checkpoint: ${place}`, async () => {
          const samples = await scrape(url)
          return samples.find(
            ({ name, labels }) =>
              name === 'svc_audit_checkpoint_timestamp_seconds' && labels['place'] === place,
          )?.value
        })
        assert.ok(coveredAt >= before)
      }
    } finally {
      // What the hub was writing there may end after the hub.
      await rm(directory, { recursive: true, maxRetries: 5 })
    }
  })

  test('[MET-23] [BKP-11] [ENV-43] say when the hub made its last backup, which it makes by itself', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'backups-'))
    try {
      const before = Math.floor(Date.now() / 1000)
      await using hub = await startScraped({ SVC_BACKUP_DIR: directory, SVC_BACKUP_INTERVAL: '2h' })
      const url = await metricsUrlOf(hub)
      const madeAt = await waitUntil('a backup', async () => {
        const samples = await scrape(url)
        // [MET-30] Nothing fails where nothing is asked for.
        const archive = samples.find(({ name }) => name === 'svc_log_archive_failed')
        assert.equal(archive?.value, 0)
        const interval = samples.find(({ name }) => name === 'svc_backup_interval_seconds')
        assert.equal(interval?.value, 7200)
        return samples.find(
          ({ name, value }) => name === 'svc_backup_timestamp_seconds' && value > 0,
        )?.value
      })
      assert.ok(madeAt >= before)
      const [file = ''] = await readdir(directory)
      const { status, stderr } = await hub.svc('backup', 'verify', join(directory, file))
      assert.equal(status, 0, stderr)
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  test('[MET-1] [MET-2] [MET-5] [MET-19] [BOOT-30] [ENV-31] serves every metric of the table, by its type, as OpenMetrics', async () => {
    await using hub = await startScraped({ SVC_METRICS_CERTIFICATES: '5' })
    const url = await metricsUrlOf(hub)
    const host = await enrollHost(hub, 'web-1.example')
    await send(host.mtls, { path: '/v1/manifest' })
    await send(host.mtls, { path: '/v1/<script>' })
    await post({ port: hub.ports.enroll }, '/v1/enroll', {})
    await hub.admin('POST', '/v1/admin/webhooks', { url: 'https://receiver.invalid/', tipos: [] })
    await fetch(`${url}/nothing`)
    // Where several hubs may sign, the first one begins once it has the lease.
    await waitUntil('a checkpoint', async () => {
      const samples = await scrape(url)
      return (
        samples.some(({ name }) => name === 'svc_audit_checkpoint_timestamp_seconds') || undefined
      )
    })
    const reply = await fetch(`${url}/metrics?x=1`)
    assert.equal(
      reply.headers.get('content-type'),
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    )
    const text = await reply.text()
    assert.ok(text.endsWith('\n# EOF\n'))
    for (const [name, { type }] of Object.entries(HUB_METRICS)) {
      const family = type === 'counter' ? name.replace(/_total$/, '') : name
      assert.ok(text.includes(`# TYPE ${family} ${type}\n`), name)
    }
    const samples = parseSamples(text)
    // Late ones, duplicated hosts, deliveries taken back, frozen rollouts, a freeze and join rules apart, of which there are none, each has a sample by now.
    const names = new Set(samples.map(({ name }) => name))
    const missing = Object.entries(HUB_METRICS)
      .map(([name, { type }]) => (type === 'histogram' ? `${name}_count` : name))
      .filter((name) => !names.has(name))
    const ofJournal = missing.filter((name) => name.startsWith('svc_journal_'))
    assert.deepEqual(
      missing.filter((name) => !ofJournal.includes(name)),
      [
        'svc_agent_duplicated_timestamp_seconds',
        'svc_certificate_late_not_after_timestamp_seconds',
        'svc_delivery_reverted_timestamp_seconds',
        'svc_rollout_frozen',
        'svc_freeze_until_timestamp_seconds',
        'svc_join_rule_hosts',
        'svc_join_rule_places',
        'svc_join_rule_not_after_timestamp_seconds',
        'svc_standby_state',
      ],
    )
    // What is counted is there always: [MET-32].
    const measured = Object.keys(HUB_METRICS).filter(
      (name) => name.startsWith('svc_journal_') && !/_total$|_wait_seconds$/.test(name),
    )
    if (!('SVC_DATABASE_URL' in hub.environment)) assert.deepEqual(ofJournal, measured)
    const valueOf = (name: string, labels: Readonly<Record<string, string>>): number | undefined =>
      samples.find(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      )?.value
    const requests = 'svc_http_requests_total'
    assert.equal(valueOf(requests, { port: 'enroll', route: '/v1/enroll', code: '200' }), 1)
    assert.equal(valueOf(requests, { port: 'enroll', route: '/v1/enroll', code: '400' }), 1)
    assert.equal(valueOf(requests, { port: 'mtls', route: '/v1/manifest', code: '200' }), 1)
    assert.equal(valueOf(requests, { port: 'mtls', route: 'other', code: '404' }), 1)
    const refusals = 'svc_refusals_total'
    assert.equal(valueOf(refusals, { port: 'enroll', error: 'request_invalid' }), 1)
    assert.equal(valueOf(refusals, { port: 'mtls', error: 'route_not_found' }), 1)
    assert.equal(valueOf(refusals, { port: 'metrics', error: 'route_not_found' }), 1)
    assert.equal(valueOf(refusals, { port: 'health', error: 'route_not_found' }), 0)
    assert.ok(!text.includes('script'), 'what strangers send is in no label')
    assert.equal(valueOf('svc_agents', { state: 'registered' }), 1)
    assert.equal(valueOf('svc_certificates', { purpose: 'identity', state: 'valid' }), 1)
    assert.equal(valueOf('svc_ca_calls_total', { outcome: 'ok' }), 2)
    assert.equal(valueOf('svc_ca_calls_total', { outcome: 'timeout' }), 0)
    assert.ok((valueOf('svc_audit_last_seq', {}) ?? 0) > 2)
    assert.equal(valueOf('svc_streams', {}), 0)
    assert.equal(valueOf('svc_webhook_dead_messages', {}), 0)
    const survival = valueOf('svc_survival_seconds', {}) ?? 0
    assert.ok(survival > 86_000 && survival <= 86_400, String(survival))
    const own = { hostname: 'web-1.example', purpose: 'identity', nome: '' }
    assert.ok(valueOf('svc_certificate_not_after_timestamp_seconds', own) !== undefined)
    assert.ok(samples.length < 500, `${samples.length} samples`)
  })

  test('[MET-3] says in /readyz why each subsystem is ready or not, and is alive all the while', async () => {
    await using hub = await startScraped()
    const url = await metricsUrlOf(hub)
    const ready = await fetch(`${url}/readyz`)
    assert.equal(ready.status, 200)
    const document = (await ready.json()) as {
      status: string
      subsystems: Record<string, { status: string; reason: string }>
    }
    assert.equal(document.status, 'ready')
    assert.deepEqual(Object.keys(document.subsystems), ['store', 'ca', 'certificate', 'audit'])
    for (const { reason } of Object.values(document.subsystems)) assert.ok(reason.length > 5)
    await ca.stop()
    try {
      await assert.rejects(enrollHost(hub, 'web-2.example'))
      const reply = await fetch(`${url}/readyz`, { headers: { accept: 'text/plain' } })
      assert.equal(reply.status, 503)
      const text = await reply.text()
      assert.match(text, /^not_ready\n/)
      assert.match(
        text,
        /^ca: not_ready: the last call, \S+ ago, ended as unreachable; SVC_CA_URL may be wrong$/m,
      )
      assert.match(text, /^store: ready: /m)
      assert.equal((await fetch(`${url}/livez`)).status, 200)
      assert.equal((await scrape(url)).find(isCaReady)?.value, 0)
      assert.equal((await send({ port: hub.ports.health }, { path: '/health' })).status, 200)
    } finally {
      await ca.start()
    }
    await enrollHost(hub, 'web-3.example')
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
  })

  test('[BOOT-35] [MET-6] says in /readyz what a hub waits for that has no certificate yet', async () => {
    await using hub = await startHub()
    await hub.stop()
    const port = await findFreePort()
    const waiting = startProgram('svc-server', [], {
      ...hub.environment,
      SVC_METRICS_BIND: `127.0.0.1:${port}`,
      SVC_CA_PROVISIONER_KID: 'nobody',
      SVC_SERVER_CN: 'renamed.example',
    })
    const text = await waitUntil('the reason', async () => {
      const headers = { accept: 'text/plain' }
      const reply = await fetch(`http://127.0.0.1:${port}/readyz`, { headers }).catch(
        () => undefined,
      )
      const said = reply?.status === 503 ? await reply.text() : ''
      return said.includes('ca: not_ready') ? said : undefined
    })
    waiting.kill('SIGTERM')
    assert.equal((await waiting.ended).status, 1)
    assert.match(text, /^certificate: not_ready: the hub waits for its first certificate$/m)
    assert.match(text, /^ca: not_ready: .* ended as refused; SVC_CA_PROVISIONER_KID may be wrong$/m)
  })

  test('[CLI-40] [API-40] svc status begins with the hub, and exits 1 when it is not ready, also without metrics', async () => {
    await using hub = await startHub()
    const good = await hub.svc('status')
    assert.equal(good.status, 0, good.stderr)
    assert.match(good.stdout, /^hub {2}ready\n/)
    await ca.stop()
    try {
      await assert.rejects(enrollHost(hub, 'web-9.example'))
      const bad = await hub.svc('status')
      assert.equal(bad.status, 1)
      assert.match(
        bad.stdout,
        /^hub {2}not ready\n {2}ca: the last call, \S+ ago, ended as unreachable; SVC_CA_URL may be wrong, since 20\S+Z\n/,
      )
      assert.match(bad.stderr, /^svc: error: the hub is not ready$/m)
    } finally {
      await ca.start()
    }
    await hub.stop()
    const without = await hub.svc('status', '--json')
    assert.equal(without.status, 1)
    assert.equal((JSON.parse(without.stdout) as { hub: unknown }).hub, null)
  })

  test('[MET-1] [SRF-23] [HLT-3] answers GET and HEAD of three paths, and takes nothing else', async () => {
    await using hub = await startScraped()
    const url = await metricsUrlOf(hub)
    assert.equal((await fetch(`${url}/`)).status, 404)
    assert.equal((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status, 405)
    const head = await fetch(`${url}/metrics`, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    const socket = await connect({ port: Number(new URL(url).port) })
    const hosts = 'Host: a\r\nHost: a\r\n'
    const refused = await exchange(
      socket,
      `GET /livez HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`,
    )
    assert.match(refused, /^HTTP\/1\.1 400 [^]*more than one Host\n$/)
    const old = await connect({ port: Number(new URL(url).port) })
    const kept = await exchange(old, 'GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
    assert.match(kept, /^HTTP\/1\.1 200 [^]*connection: close[^]*\{"status":"alive"\}\n$/i)
    const many = await Promise.all(Array.from({ length: 20 }, () => scrape(url)))
    for (const samples of many) assert.ok(samples.length > 50)
  })

  test('[MET-4] [ENV-30] [BOOT-14] off is off; an address that is taken ends the start only when it was asked for', async () => {
    await using hub = await startHub()
    assert.ok(hub.logEntries().every(({ msg }) => msg !== 'metrics listening'))
    await hub.stop()
    const blocker = createServer().listen(await findFreePort(), '127.0.0.1')
    await once(blocker, 'listening')
    const { port } = blocker.address() as { port: number }
    const taken = { ...hub.environment, SVC_METRICS_BIND: `127.0.0.1:${port}` }
    const ended = await failToStart(taken)
    blocker.close()
    assert.equal(ended.status, 1)
    assert.match(ended.stderr, new RegExp(`Address already in use \\(127.0.0.1:${port}\\)`))

    // The default is one address for all: whoever holds it now, this hub or another program, the start succeeds.
    const holder = createServer()
    const isHeld = await new Promise<boolean>((resolve) => {
      holder.once('error', () => resolve(false))
      holder.listen(9464, '127.0.0.1', () => resolve(true))
    })
    await hub.start({ SVC_METRICS_BIND: '' })
    const warning = hub.logEntries().find(({ module }) => module === 'hub.metrics')
    assert.equal(warning?.['level'], 'warn')
    assert.match(String(warning?.['reason']), /Address already in use \(127\.0\.0\.1:9464\)/)
    if (isHeld) holder.close()
  })

  test('[MET-4] [ENV-32] settings that are none are refused by name', async () => {
    await using hub = await startHub()
    await hub.stop()
    for (const [name, value] of [
      ['SVC_METRICS_BIND', '9464'],
      ['SVC_METRICS_CERTIFICATES', '-1'],
      ['SVC_METRICS_CERTIFICATES', '100001'],
      ['SVC_RENEWAL_THRESHOLD', '6'],
    ] as const) {
      const ended = await failToStart({ ...hub.environment, [name]: value })
      assert.equal(ended.status, 1)
      assert.match(ended.stderr, new RegExp(`error: ${name}: ${value} is not`))
    }
  })
})

function isCaReady({ name, labels }: { name: string; labels: Record<string, string> }): boolean {
  return name === 'svc_ready' && labels['subsystem'] === 'ca'
}
