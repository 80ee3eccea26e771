// A real Prometheus watches a hub and an agent with the rules of deploy/: a host whose agent stopped is known as late by
// the hub alone, before its certificate ends.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import { findFreePort } from '../support/free-port.ts'
import type { TestHub } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { startTool, type RunningProgram, waitUntil } from '../support/processes.ts'
import { withTools } from '../support/tools.ts'

const RULES = join(import.meta.dirname, '../../deploy/prometheus/alerts.yml')
const TIMEOUT_MS = 120_000

interface Alert {
  readonly state: string
  readonly labels: Readonly<Record<string, string>>
}

interface Prometheus extends AsyncDisposable {
  alerts(name: string): Promise<Alert[]>
  /** The values of an expression now. */
  query(expression: string): Promise<number[]>
}

describe('metrics', withTools('prometheus', 'promtool'), () => {
  test('[MET-12] [MET-14] [MET-15] [MET-18] [AGV-30] a stopped agent raises the alert of its host, and no other', async () => {
    // Renewals are a minute apart at least, so this is about as short as lives can be: late after 50 s.
    await using ca = await startDevCa({ certDuration: '60s' })
    await using hub = await startTestHub({
      caEnvironment: ca.environment,
      environment: { SVC_SERVER_CN: 'localhost', SVC_METRICS_BIND: '127.0.0.1:0' },
    })
    await using steady = await enrolHost(hub, 'steady', { SVC_AGENT_METRICS_BIND: '127.0.0.1:0' })
    await using gone = await enrolHost(hub, 'gone')
    const running = steady.run()
    const leaving = gone.run()
    await waitUntil('its first poll', async () =>
      (await agenteOf(hub, gone))['last_poll_at'] === null ? undefined : true,
    )
    leaving.kill('SIGKILL')
    await leaving.ended
    const targets = [
      `127.0.0.1:${await portIn(() => hub.logText())}`,
      `127.0.0.1:${await portIn(running.stderr)}`,
    ]
    await using prometheus = await startPrometheus(targets)

    const [late] = await waitUntil(
      'the alert',
      async () => {
        const alerts = await prometheus.alerts('CartorioCertificateLate')
        const isFiring = alerts.some(({ state, labels }) => {
          return state === 'firing' && labels['hostname'] === 'gone'
        })
        return isFiring ? alerts : undefined
      },
      TIMEOUT_MS,
    )
    assert.equal(late?.labels['purpose'], 'identity')
    assert.deepEqual(
      (await prometheus.alerts('CartorioCertificateLate')).map(({ labels }) => labels['hostname']),
      ['gone'],
    )
    assert.equal((await agenteOf(hub, gone))['atrasado'], true)
    assert.equal((await agenteOf(hub, steady))['atrasado'], false)
    const listed = await hub.svc('agente', 'list')
    assert.match(listed.stdout, /^gone +web +late /m)
    assert.match(listed.stdout, /^steady +web +registered /m)
    const { stdout } = await hub.svc('status', '--json')
    const status = JSON.parse(stdout) as {
      agentes: object
      survival: { seconds: number; first: { hostname: string } }
    }
    assert.deepEqual(status.agentes, { registered: 1, atrasado: 1, revoked: 0 })
    assert.ok(status.survival.seconds <= 60)

    // What the agent says of itself has arrived too, and both are of one mind.
    assert.deepEqual(await prometheus.query('svc_agent_ready == 0'), [])
    const [rounds = 0] = await prometheus.query('svc_agent_rounds_total{outcome="completed"}')
    assert.ok(rounds > 0)
    assert.deepEqual(await prometheus.query('sum(up)'), [2])
    const [survival = 0] = await prometheus.query('svc_agent_survival_seconds')
    assert.ok(survival > 0 && survival <= 60)
    const own = await steady.agent('status')
    assert.match(own.stdout, /^survives without the hub: \d+s \(the identity, until \S+Z\)$/m)

    gone.run()
    await waitUntil(
      'the alert to end',
      async () => {
        const alerts = await prometheus.alerts('CartorioCertificateLate')
        return alerts.some(({ labels }) => labels['hostname'] === 'gone') ? undefined : true
      },
      TIMEOUT_MS,
    )
    assert.equal((await agenteOf(hub, gone))['atrasado'], false)
  })
})

function agenteOf(hub: TestHub, { hostname }: ManagedHost): Promise<Record<string, unknown>> {
  return hub.admin('POST', '/v1/admin/agentes/show', { agente: hostname })
}

async function portIn(log: () => string): Promise<number> {
  return waitUntil('the metrics port', () => {
    const line = log()
      .split('\n')
      .find((text) => /"msg":"metrics listening"/i.test(text) && text.endsWith('}'))
    return line === undefined ? undefined : (JSON.parse(line) as { port: number }).port
  })
}

/** With the shipped rules, but for the time that an alert has to last. */
async function startPrometheus(targets: readonly string[]): Promise<Prometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'prometheus-'))
  const rules = (await readFile(RULES, 'utf8')).replaceAll(/^( +)for: \d+m$/gm, '$1for: 1s')
  await writeFile(join(directory, 'alerts.yml'), rules)
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'cartorio', static_configs: [{ targets }] }],
  }
  // YAML is a superset of JSON.
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(config))
  const address = `127.0.0.1:${await findFreePort()}`
  const program: RunningProgram = startTool('prometheus', [
    `--config.file=${join(directory, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=${address}`,
  ])
  const ask = async <T>(path: string): Promise<T> => {
    const reply = await fetch(`http://${address}/api/v1/${path}`)
    return ((await reply.json()) as { data: T }).data
  }
  await waitUntil('Prometheus', async () => {
    if (program.hasEnded()) throw new Error(`it ended: ${program.stderr()}`)
    const reply = await fetch(`http://${address}/-/ready`).catch(() => undefined)
    return reply?.status === 200 ? true : undefined
  })
  return {
    alerts: async (name) => {
      const { alerts } = await ask<{ alerts: Alert[] }>('alerts')
      return alerts.filter(({ labels }) => labels['alertname'] === name)
    },
    query: async (expression) => {
      const { result } = await ask<{ result: { value: [number, string] }[] }>(
        `query?query=${encodeURIComponent(expression)}`,
      )
      return result.map(({ value }) => Number(value[1]))
    },
    [Symbol.asyncDispose]: async () => {
      program.kill('SIGKILL')
      await program.ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}
