// How a hub starts with a standby, and brings it up. docs/protocol.md STB-8, STB-10, STB-11.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  countEntries,
  openStandbyScene,
  openTogether,
  silentLog,
  untilTrue,
  urlOf,
  writeEntry,
} from '../../../test/support/standby-scene.ts'
import { systemClock } from '../../platform/clock.ts'
import { StoreError } from '../store/store-error.ts'
import { tellOldHub } from './run-standby.ts'
import { readRole } from './standby-role.ts'

describe('a hub that starts', () => {
  test('[STB-10] waits for no standby that never had everything, and does not wait while it gets a copy', async () => {
    await using scene = await openStandbyScene()
    const beganMs = performance.now()
    const store = await scene.openHub('required')
    const tookMs = performance.now() - beganMs
    assert.ok(tookMs < 2000, `${tookMs} ms`)
    await writeEntry(store)
    await store.close()
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    scene.onImage = () => released
    scene.connect()
    const again = await scene.openHub('required')
    await writeEntry(again)
    assert.equal(again.standby?.state(), 'alone')
    release()
    await untilTrue(() => again.standby?.state() === 'together')
    assert.equal(readRole(scene.vault.root)?.role, 'hub')
    assert.equal(scene.copy.position?.number, again.standby?.position())
  })

  test('[STB-5] [STB-8] while its standby ends taking a copy goes on from that copy', async () => {
    await using scene = await openStandbyScene()
    let images = 0
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    scene.onImage = async (when) => {
      if (when === 'begun') images += 1
      else await released
    }
    scene.connect()
    const store = await scene.openHub('preferred')
    await untilTrue(() => images === 1 && scene.copy.position !== undefined)
    await store.close()
    const opening = scene.openHub('preferred')
    setTimeout(release, 500)
    const again = await opening
    await untilTrue(() => again.standby?.state() === 'together')
    assert.equal(images, 1)
  })

  test('[STB-7] after a kill runs a record of any size that the standby has', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene)
    const sealed = randomBytes(20 * 1024 * 1024)
    let asked = 0
    scene.copy.listKept = async (after) => {
      asked += 1
      return [{ number: after + 1, sealed }]
    }
    // It asks each second.
    await untilTrue(() => asked > 2)
    assert.equal(store.standby?.state(), 'together', store.standby?.reason())
  })
})

describe('a standby', () => {
  test('[STB-8] that cannot run a record any more gets a copy of the vault', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene)
    await writeEntry(store)
    let images = 0
    scene.onImage = async (when) => {
      if (when === 'begun') images += 1
      else scene.onRecord = undefined
    }
    scene.onRecord = () =>
      Promise.reject(new StoreError('store_diverged', 'the copy is not what it was copied from'))
    await assert.rejects(writeEntry(store), { code: 'store_unavailable' })
    await untilTrue(() => store.standby?.state() === 'together' && images === 1)
    await writeEntry(store)
    assert.equal(await countEntries(store), 2)
    assert.equal(scene.copy.position?.number, store.standby?.position())
  })
})

describe('a hub whose SVC_STANDBY_OF leads to itself', () => {
  test('[STB-16] keeps its standby, finds it again, and is told nothing', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene)
    const hub = urlOf(scene.port)
    const epoch = async (): Promise<number> => 0
    await using _ = tellOldHub(scene.vault, { hub, epoch, clock: systemClock }, silentLog)
    let losses = 0
    scene.onRecord = async (_record, run) => {
      losses += 1
      // The connection is lost with the answer.
      if (losses % 2 === 1) scene.hangUp()
      await run()
    }
    for (let count = 1; count <= 5; count += 1) {
      await writeEntry(store)
      assert.equal(await countEntries(store), count)
    }
    await untilTrue(() => store.standby?.state() === 'together')
    assert.equal(scene.copy.position?.number, store.standby?.position())
  })
})
