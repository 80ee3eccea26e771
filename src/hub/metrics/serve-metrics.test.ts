import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseSamples } from '../../../test/support/scrape.ts'
import { systemClock } from '../../platform/clock.ts'
import { createLogging } from '../../platform/logger.ts'
import { createMetricSet } from '../../platform/metric-set.ts'
import { Secret } from '../../platform/secret.ts'
import { NOW } from '../../../test/store/store-samples.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { createHubMeters } from './hub-meters.ts'
import { HUB_METRICS } from './hub-metrics.ts'
import { createHubHealth } from './hub-health.ts'
import { serveHubMetrics } from './serve-metrics.ts'

test('[MET-3] a vault whose disk does not answer is a store that is not ready, and no failure of the port', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'metrics-'))
  const databasePath = join(directory, 'db.enc')
  const dataKey = new Secret(randomBytes(32))
  const store = await openSqliteStore({ path: databasePath, dataKey, createIfMissing: true })
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  const vaultRoot = join(directory, 'gone')
  const meters = createHubMeters(createMetricSet(HUB_METRICS), systemClock)
  const { checkReadiness } = createHubHealth({
    clock: systemClock,
    reader: store.reader,
    caCalls: { last: undefined },
    vaultRoot,
    freeSpaceFloorBytes: 1,
    certificate: () => ({ notBefore: NOW, notAfter: NOW }),
  })
  const server = await serveHubMetrics(
    { host: '127.0.0.1', port: 0 },
    {
      meters,
      checkReadiness,
      reader: store.reader,
      clock: systemClock,
      log: logging.forModule('hub.metrics'),
      vaultRoot,
      databasePath,
      freeSpaceFloorBytes: 1,
      thresholdMs: 1,
      certificatesMax: 0,
      serverNotAfter: () => NOW,
      checkpointAt: () => ({}),
      countStreams: () => 0,
      countConnections: async () => ({}),
    },
  )
  const url = `http://127.0.0.1:${server.address.port}`
  try {
    const ready = await fetch(`${url}/readyz`, { headers: { accept: 'text/plain' } })
    assert.equal(ready.status, 503)
    assert.match(
      await ready.text(),
      /^store: not_ready: the free space cannot be measured: ENOENT/m,
    )
    const metrics = await fetch(`${url}/metrics`)
    assert.equal(metrics.status, 200)
    const samples = parseSamples(await metrics.text())
    const isStore = samples.find(
      ({ name, labels }) => name === 'svc_ready' && labels['subsystem'] === 'store',
    )
    assert.equal(isStore?.value, 0)
    assert.equal(
      samples.find(({ name }) => name === 'svc_vault_free_bytes'),
      undefined,
    )
  } finally {
    await server.close()
    await store.close()
    await rm(directory, { recursive: true })
  }
})
