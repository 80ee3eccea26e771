// Ten thousand requests that no honest client sends, over the ports of a real hub that others reach. FUZZ_SEED repeats a run: kinds,
// places and values are the same again; tokens, keys and certificates are the run's own.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { startTestCa } from '../support/test-hub.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { assertOk, send } from '../support/wire-client.ts'
import { seedFrom } from '../simulation/seeded-random.ts'
import { FUZZED_HUB, type FuzzedHub, FuzzTally, prepareFuzzedHub, sendAll } from './fuzz-hub.ts'
import { malformedRequest } from './malformed-request.ts'

const REQUESTS = 10_000
const GROWTH_MAX = 0.1

const seed = seedFrom(process.env['FUZZ_SEED'])

let ca: RunningCa
let hub: HubProcess
let fuzzed: FuzzedHub

before(async () => {
  ca = await startTestCa()
  const environment = {
    ...FUZZED_HUB,
    // Left alone, the heap grows by many megabytes of garbage at a time; what is kept is what counts.
    NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=64',
  }
  hub = await startHubProcess({ caEnvironment: ca.environment, environment })
  fuzzed = await prepareFuzzedHub(hub)
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
  await ca?.[Symbol.asyncDispose]()
})

describe('malformed requests', () => {
  test('[SRF-6] [SRF-7] [SRF-14] [SRF-20] 10,000 of them leave the hub as it was, and each is answered as documented', async (context) => {
    const { pid } = hub
    const tally = new FuzzTally()
    const startedMs = Date.now()
    const requests = fc.sample(malformedRequest(fuzzed.facts), { numRuns: REQUESTS, seed })
    await sendAll(fuzzed, requests.slice(0, REQUESTS / 2), tally)
    const residentAtHalf = await residentBytes(pid)
    await sendAll(fuzzed, requests.slice(REQUESTS / 2), tally)
    const residentAtEnd = await residentBytes(pid)
    const durationMs = Date.now() - startedMs

    context.diagnostic(`FUZZ_SEED=${seed}: ${REQUESTS} requests in ${durationMs} ms`)
    context.diagnostic(`answers: ${tally.describe()}`)
    const growth = residentAtEnd / residentAtHalf - 1
    context.diagnostic(
      `resident: ${residentAtHalf} bytes, then ${(growth * 100).toFixed(1)} % more`,
    )

    assert.deepEqual(tally.faults, [], `FUZZ_SEED=${seed}`)
    const errors = hub.logEntries().filter(({ level }) => level === 'error' || level === 'fatal')
    assert.deepEqual(errors, [], `FUZZ_SEED=${seed}`)
    assert.equal(hub.pid, pid)
    assertOk(await send({ port: hub.ports.health }, { path: '/health' }))
    assert.ok(growth <= GROWTH_MAX, `FUZZ_SEED=${seed}: memory grew by ${growth * 100} %`)
    const { status, stdout } = await hub.svc('evento', 'list', '--verify', '--json')
    assert.equal(status, 0, stdout)
    const { ok, first_bad: firstBad } = JSON.parse(stdout) as Record<string, unknown>
    assert.deepEqual([ok, firstBad], [true, null])
  })
})

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}
