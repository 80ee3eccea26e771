// deploy/grafana/dashboard.json against the types that Grafana publishes: there is no Grafana to load it into.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ROOT } from '../../tools/source-files.ts'
import { type Dashboard, findDashboardFaults } from './support/typed-dashboard.ts'

async function readDashboard(): Promise<Dashboard> {
  const text = await readFile(join(ROOT, 'deploy/grafana/dashboard.json'), 'utf8')
  return JSON.parse(text) as Dashboard
}

describe('the dashboard', () => {
  test('is as Grafana’s types want it', async () => {
    const dashboard = await readDashboard()
    assert.ok(dashboard.panels.length >= 20, `${dashboard.panels.length} panels`)
    assert.deepEqual(await findDashboardFaults(dashboard), [])
  })

  test('and mistakes are found', async () => {
    const { panels, ...rest } = await readDashboard()
    const faults = await findDashboardFaults({
      ...rest,
      panels: [
        { type: 'timeseries', gridPos: { height: 3 } },
        { type: 'stat', options: { graphMode: 'areas' } },
        { type: 'timeseries', fieldConfig: { defaults: { custom: { fillOpacity: '10' } } } },
        { type: 'table', options: { sort: [] } },
        { type: 'gauges' },
        ...panels,
      ],
    } as Dashboard)
    const said = faults.join('\n')
    for (const mistake of ['"height"', '"areas"', "'string' is not", '"sort"', "'gauges'"]) {
      assert.ok(said.includes(mistake), said)
    }
  })
})
