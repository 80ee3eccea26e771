// Machines that stand still and wake up: the standby of a hub, and a hub whose standby was promoted meanwhile. docs/protocol.md STB-12, STB-16.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import { waitUntil } from '../support/processes.ts'
import { makeStandbyPair, readLog, statusOf, untilState } from '../support/standby-pair.ts'
import { startTestCa } from '../support/test-hub.ts'
import { post } from '../support/wire-client.ts'

const REFUSED_MS_MAX = 14_000

test('[STB-12] [STB-16] a standby that stood still is together with its hub again; a hub that stood still ends when its standby was promoted', async (context) => {
  await using ca = await startTestCa()
  await using pair = await makeStandbyPair({ caEnvironment: ca.environment })
  const [one, two] = pair.machines
  await two.start('standby')
  await one.start('hub')
  await untilState(one, 'together')
  const host = await enrollHost(one, 'web-1.example.org')
  const note = (request_id: string): Promise<number> =>
    post(host.mtls, '/v1/events', { tipo_evento: 'noted', payload: {}, request_id }).then(
      ({ status }) => status,
    )
  const noted = async (machine = one): Promise<readonly unknown[]> => {
    const log = await readLog(machine)
    return log.filter(({ tipo_evento }) => tipo_evento === 'noted').map((entry) => entry.request_id)
  }
  assert.equal(await note('before'), 200)
  two.signal('SIGSTOP')
  const beganMs = performance.now()
  assert.equal(await note('refused'), 503)
  const refusedMs = performance.now() - beganMs
  assert.ok(refusedMs < REFUSED_MS_MAX, `${refusedMs} ms`)
  two.signal('SIGCONT')
  const wokenMs = performance.now()
  await waitUntil('a write', async () => (await note('refused')) === 200 || undefined)
  const writtenMs = performance.now() - wokenMs
  // Whether the standby ran it as it woke up, or the hub sent it again: once.
  assert.deepEqual(await noted(), ['before', 'refused'])
  assert.equal((await statusOf(two)).record, (await statusOf(one)).record)

  one.signal('SIGSTOP')
  await waitUntil('the hub to be missed', async () => {
    const { state } = await statusOf(two)
    return state === 'silent' || undefined
  })
  // It reaches the hub's machine, and no hub.
  const late = note('late').catch(() => 0)
  const { status, stderr } = await two.svc('standby', 'promote')
  assert.equal(status, 0, stderr)
  await two.becameHub()
  one.signal('SIGCONT')
  const ended = await one.ended()
  assert.match(ended.stderr, /svc-server: error: the standby was promoted: it is the hub now\n/)
  assert.notEqual(await late, 200)
  assert.deepEqual(await noted(two), ['before', 'refused'])
  context.diagnostic(
    `refused after ${Math.round(refusedMs)} ms, written ${Math.round(writtenMs)} ms after it woke up`,
  )
})
