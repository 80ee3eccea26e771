// Alerts and dashboard speak of what hub and agent export, and of nothing else: docs/protocol.md MET.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { AGENT_METRICS } from '../../src/agent/reporting/agent-metrics.ts'
import { HUB_METRICS } from '../../src/hub/metrics/hub-metrics.ts'
import type { MetricTable } from '../../src/platform/metric-set.ts'
import { findWrongUses } from '../support/metric-uses.ts'
import { runTool } from '../support/processes.ts'
import { withTools } from '../support/tools.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const ALERTS = join(DEPLOY, 'prometheus/alerts.yml')
const ALL: MetricTable = { ...HUB_METRICS, ...AGENT_METRICS }

async function readAlerts(): Promise<string[]> {
  const text = await readFile(ALERTS, 'utf8')
  return [...text.matchAll(/^ +expr: (.+)$/gm)].map(([, expression]) => expression ?? '')
}

async function readDashboard(): Promise<string[]> {
  const { panels } = JSON.parse(await readFile(join(DEPLOY, 'grafana/dashboard.json'), 'utf8')) as {
    panels: { targets?: { expr: string }[] }[]
  }
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}

describe('[MET-18] what deploy/ makes of the metrics', () => {
  test('names only metrics, labels and values that there are', async () => {
    const alerts = await readAlerts()
    const dashboard = await readDashboard()
    assert.ok(alerts.length >= 20 && dashboard.length >= 30)
    for (const expression of [...alerts, ...dashboard]) {
      assert.deepEqual(findWrongUses(expression, ALL), [], expression)
    }
    // Each alert can be looked at.
    const shown = dashboard.join('\n')
    const unseen = Object.keys(ALL).filter(
      (name) => alerts.join('\n').includes(name) && !shown.includes(name),
    )
    assert.deepEqual(unseen, ['svc_agent_ready', 'svc_agent_update'])
  })

  test('a table of several queries is one table', async () => {
    const { panels } = JSON.parse(
      await readFile(join(DEPLOY, 'grafana/dashboard.json'), 'utf8'),
    ) as { panels: { type: string; targets?: object[]; transformations?: { id: string }[] }[] }
    const several = panels.filter(
      ({ type, targets = [] }) => type === 'table' && targets.length > 1,
    )
    assert.deepEqual(
      several.map(({ transformations = [] }) => transformations.map(({ id }) => id)),
      [['merge']],
    )
  })

  test('and a mistake is found', () => {
    const wrong = [
      'svc_agentss > 0',
      'svc_agents{stat="revoked"} > 0',
      'svc_agents{state="late"} > 0',
      'sum by (port) (svc_agents)',
      'rate(svc_ca_call_duration_seconds[5m])',
      'svc_http_requests_bucket > 0',
    ]
    for (const expression of wrong) {
      assert.equal(findWrongUses(expression, ALL).length, 1, expression)
    }
    const right =
      'sum by (le, port) (rate(svc_http_request_duration_seconds_bucket{port!="mtls"}[5m]))'
    assert.deepEqual(findWrongUses(right, ALL), [])
  })

  test(
    'the rules load, and fire when they should',
    withTools('prometheus', 'promtool'),
    async () => {
      assert.match(await runTool('promtool', ['check', 'rules', ALERTS]), /SUCCESS: 44 rules found/)
      const tests = join(DEPLOY, 'prometheus/alerts.test.yml')
      assert.match(await runTool('promtool', ['test', 'rules', tests]), /SUCCESS/)
    },
  )
})
