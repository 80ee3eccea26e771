// A network that swallows everything between a hub and its standby. docs/protocol.md STB-9, STB-12.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSilentNetwork } from '../../../test/fakes/silent-network.ts'
import {
  countEntries,
  openStandbyScene,
  untilTrue,
  writeEntry,
} from '../../../test/support/standby-scene.ts'

/** Of the promised ten seconds, one claim more. */
const REFUSED_MS_MAX = 12_500
/** The standby gives up its connection, or the attempt at one, and connects again. */
const HEALED_MS_MAX = 8000

test('[STB-12] required: writes are refused in ten seconds, at once while the network is silent, and go on when it is healed', async (context) => {
  await using scene = await openStandbyScene()
  await using network = await startSilentNetwork({ port: scene.port })
  scene.connect(network.port)
  const store = await scene.openHub('required')
  await untilTrue(() => store.standby?.state() === 'together')
  await writeEntry(store)
  network.silence()
  const first = await refusalOf(() => writeEntry(store))
  const next = await refusalOf(() => writeEntry(store))
  assert.ok(first.tookMs < REFUSED_MS_MAX, `${first.tookMs} ms`)
  assert.ok(next.tookMs < 3000, `${next.tookMs} ms`)
  const healedMs = performance.now()
  network.heal()
  let tries = 0
  for (; tries < 1000; tries += 1) {
    try {
      await writeEntry(store)
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const tookMs = performance.now() - healedMs
  assert.ok(tookMs < HEALED_MS_MAX, `${tookMs} ms`)
  // What was refused first the standby may have had, and then the hub has it too.
  assert.ok((await countEntries(store)) >= 2)
  assert.equal(scene.copy.position?.number, store.standby?.position())
  context.diagnostic(
    `refused after ${Math.round(first.tookMs)} ms, then after ${Math.round(next.tookMs)} ms; written ${Math.round(tookMs)} ms after it was healed`,
  )
})

test('[STB-9] [STB-11] preferred: the hub goes on alone, and brings the standby up when the network is healed', async (context) => {
  await using scene = await openStandbyScene()
  await using network = await startSilentNetwork({ port: scene.port })
  scene.connect(network.port)
  const store = await scene.openHub('preferred')
  await untilTrue(() => store.standby?.state() === 'together')
  network.silence()
  const beganMs = performance.now()
  await writeEntry(store)
  const firstMs = performance.now() - beganMs
  for (let count = 0; count < 100; count += 1) await writeEntry(store)
  const tookMs = performance.now() - beganMs
  assert.ok(tookMs < 8000, `${tookMs} ms`)
  assert.equal(store.standby?.state(), 'alone')
  const healedMs = performance.now()
  network.heal()
  await untilTrue(() => store.standby?.state() === 'together')
  context.diagnostic(
    `the first write took ${Math.round(firstMs)} ms, 101 of them ${Math.round(tookMs)} ms; together ${Math.round(performance.now() - healedMs)} ms after it was healed`,
  )
  assert.equal(await countEntries(store), 101)
  assert.equal(scene.copy.position?.number, store.standby?.position())
})

test('[STB-10] a hub stops and starts while its standby is silent', async (context) => {
  await using scene = await openStandbyScene()
  await using network = await startSilentNetwork({ port: scene.port })
  scene.connect(network.port)
  const store = await scene.openHub('preferred')
  await untilTrue(() => store.standby?.state() === 'together')
  network.silence()
  const beganMs = performance.now()
  await store.close()
  const closedMs = performance.now()
  const alone = await scene.openHub('preferred')
  const openedMs = performance.now()
  await writeEntry(alone)
  assert.equal(alone.standby?.state(), 'alone')
  await alone.close()
  await assert.rejects(scene.openHub('required'), {
    message: /the standby has not what this vault has: no standby is connected/,
  })
  const refusedMs = performance.now()
  assert.ok(closedMs - beganMs < 8000, `${closedMs - beganMs} ms`)
  assert.ok(openedMs - closedMs < 6000, `${openedMs - closedMs} ms`)
  context.diagnostic(
    `stopped in ${Math.round(closedMs - beganMs)} ms, started in ${Math.round(openedMs - closedMs)} ms, refused in ${Math.round(refusedMs - openedMs)} ms`,
  )
  network.heal()
  const healed = await scene.openHub('required')
  assert.equal(healed.standby?.state(), 'together')
  assert.equal(await countEntries(healed), 1)
})

async function refusalOf(work: () => Promise<unknown>): Promise<{ readonly tookMs: number }> {
  const beganMs = performance.now()
  await assert.rejects(work(), (error: Error & { code?: string }) =>
    ['store_unavailable', 'store_unknown'].includes(error.code ?? ''),
  )
  return { tookMs: performance.now() - beganMs }
}
