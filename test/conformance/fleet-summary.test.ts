// A fleet in one reply, of a hub as operators run it: docs/protocol.md OVW.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminFleetSummary } from '../../src/protocol/admin/fleet-summary.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { waitUntil } from '../support/processes.ts'
import { openStream } from '../support/stream-client.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, send } from '../support/wire-client.ts'

const { hub } = useHub()

const summarize = (query = ''): Promise<AdminFleetSummary> =>
  hub.admin<AdminFleetSummary>('GET', `/v1/admin/fleet/summary${query}`)

test('[OVW-1] [OVW-8] a running hub says how it is, and sees the host that holds its stream', async () => {
  const empty = await summarize()
  assert.equal(empty.hub?.ready, true)
  assert.ok(Date.parse(empty.hub?.certificate_not_after ?? '') > Date.parse(empty.time))
  assert.deepEqual(empty.hub?.ca, { ready: true, last_failure: null })
  const host = await enrollHost(hub, 'summary-1.example')
  assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  const stream = await openStream(host.mtls)
  const seen = await waitUntil('a summary with the host', async () => {
    const reply = await summarize('?horizon=6h')
    return reply.agentes.connected === 1 ? reply : undefined
  })
  stream.close()
  assert.equal(seen.agentes.registered + seen.agentes.atrasado, 1)
  assert.equal(seen.counts.agentes, 1)
  const { expired, atrasado, renewing, fresh, buckets, bucket_seconds: seconds } = seen.certificados
  assert.equal(expired + atrasado + renewing + fresh, 1)
  assert.deepEqual([buckets.length, seconds], [25, 900])
  assert.equal(seen.survival?.first.hostname, 'summary-1.example')
  assert.deepEqual(seen.raizes, { epoca: 1, numero: 1, adopted: 0, agentes: 1 })
})

test('[OVW-8] samples come where they are asked for, and begin with the hub', async () => {
  const { samples, time } = await summarize('?samples=day')
  assert.ok(samples !== null && samples.since <= time)
  assert.equal(samples.interval_seconds, 60)
  assert.equal(samples.connected.length, samples.busy_percent.length)
  assert.equal((await summarize()).samples, null)
})

test('[OVW-1] another horizon is refused', async () => {
  await assert.rejects(summarize('?horizon=1y'), /request_invalid|horizon/)
})
