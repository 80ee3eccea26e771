// A hub's store and its standby in one process, over real connections.

import assert from 'node:assert/strict'
import { connect, type TLSSocket } from 'node:tls'
import { describe, test } from 'node:test'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import {
  countEntries,
  LOOPBACK,
  openStandbyScene,
  openTogether,
  silentLog,
  untilTrue,
  urlOf,
  writeEntry,
} from '../../../test/support/standby-scene.ts'
import { Secret } from '../../platform/secret.ts'
import { StoreError } from '../store/store-error.ts'
import type { UnsealedVault } from '../vault/vault.ts'
import { callHub } from './call-hub.ts'
import { StandbyClient } from './standby-client.ts'
import { listenForStandby } from './standby-line.ts'
import { readRole } from './standby-role.ts'
import { standbyTls } from './standby-tls.ts'

describe('a hub and its standby', () => {
  test('[STB-6] [STB-7] share each record; the answer that was lost is found out, the record runs once', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene)
    await writeEntry(store)
    assert.equal(scene.copy.position?.number, store.standby?.position())
    let losses = 0
    scene.onRecord = async (_record, run) => {
      await run()
      if (losses > 0) return
      losses += 1
      throw new Error('the answer is lost')
    }
    await writeEntry(store)
    assert.equal(losses, 1)
    assert.equal(await countEntries(store), 2)
    assert.equal(scene.copy.position?.number, store.standby?.position())
  })

  test('[STB-12] a standby whose disk is full: nothing is acknowledged, nothing is lost, and writes go on when there is room', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene)
    await writeEntry(store)
    scene.onRecord = () =>
      Promise.reject(new StoreError('store_unavailable', 'no space left for the database'))
    await assert.rejects(writeEntry(store), { code: 'store_unavailable' })
    assert.equal(await countEntries(store), 1)
    scene.onRecord = undefined
    await writeEntry(store)
    assert.equal(await countEntries(store), 2)
    assert.equal(scene.copy.position?.number, store.standby?.position())
  })

  test('[STB-7] a hub that was killed before it committed what the standby has gets it at its start', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene)
    await writeEntry(store)
    // The hub is gone before the answer comes.
    scene.onRecord = async (_record, run) => {
      await run()
      await store.standby?.close()
      throw new Error('the hub was killed')
    }
    await assert.rejects(writeEntry(store))
    scene.onRecord = undefined
    assert.equal(await countEntries(store), 1)
    await store.close()
    const again = await scene.openHub('required')
    assert.equal(await countEntries(again), 2)
  })

  test('[STB-9] preferred: what the hub wrote alone the standby gets by records', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene, 'preferred')
    await writeEntry(store)
    scene.onRecord = () => Promise.reject(new StoreError('store_unavailable', 'no space left'))
    for (let count = 0; count < 100; count += 1) await writeEntry(store)
    assert.equal(store.standby?.state(), 'alone')
    scene.onRecord = undefined
    await untilTrue(() => store.standby?.state() === 'together')
    assert.equal(scene.copy.position?.number, store.standby?.position())
    await writeEntry(store)
    assert.deepEqual(await scene.copy.listKept(0).then((all) => all.length > 1), true)
  })

  test('[STB-5] a second process of the hub, or a hub of the same key elsewhere, is refused while the first is connected', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene)
    await writeEntry(store)
    const { vaultId, dataKey } = scene.vault
    await using other = await openLine(scene.vault)
    const tls = standbyTls(dataKey, vaultId, 'standby')
    scene.server.serve(await callHub({ hub: urlOf(other.line.port), tls }, NEVER))
    await untilTrue(() => other.line.address() !== undefined)
    const client = new StandbyClient(other.line, 'f'.repeat(32))
    await assert.rejects(client.claim('required'), { kind: 'claimed' })
    client.disconnect()
    await writeEntry(store)
  })

  test('[STB-16] a hub whose standby was promoted writes no more, and knows it at its next start', async () => {
    await using scene = await openStandbyScene()
    const store = await openTogether(scene)
    await writeEntry(store)
    await scene.copy.endWith(async () => undefined)
    await assert.rejects(writeEntry(store), { code: 'hub_deposed' })
    assert.equal((await store.standby?.deposed)?.code, 'hub_deposed')
    assert.equal(await countEntries(store), 1)
    await store.close()
    assert.equal(readRole(scene.vault.root)?.role, 'deposed')
    await assert.rejects(scene.openHub('required'), { code: 'vault_deposed' })
  })
})

describe('[STB-4] a hub takes the connection', () => {
  test('of who has the data key: with the certificate of an agent, that of another vault, that of a hub, and none nobody gets in', async () => {
    await using scene = await openStandbyScene()
    await using opened = await openLine(scene.vault)
    const { line } = opened
    const ca = await createFakeCa()
    const agent = await ca.issueServer('web-1.example.org')
    const { vaultId, dataKey } = scene.vault
    const another = standbyTls(new Secret(Buffer.alloc(32, 7)), vaultId, 'standby')
    const strangers = {
      agent: { cert: agent.certificatePem, key: agent.keyPem },
      'another vault': another,
      'a hub': standbyTls(dataKey, vaultId, 'hub'),
      nobody: {},
    }
    for (const [who, tls] of Object.entries(strangers)) {
      const socket = connect({ ...tls, port: line.port, host: LOOPBACK, rejectUnauthorized: false })
      socket.on('error', () => undefined)
      await closed(socket)
      assert.equal(line.address(), undefined, who)
    }
    const hub = urlOf(line.port)
    await assert.rejects(callHub({ hub, tls: another }, NEVER), /not trusted|self-signed/i)
    const socket = await callHub({ hub, tls: standbyTls(dataKey, vaultId, 'standby') }, NEVER)
    await untilTrue(() => line.address() === LOOPBACK)
    socket.destroy()
  })

  test('of one standby: another is turned away while the first is there, and taken when it has gone', async () => {
    await using scene = await openStandbyScene()
    await using opened = await openLine(scene.vault)
    const { line } = opened
    const { vaultId, dataKey } = scene.vault
    const call = { hub: urlOf(line.port), tls: standbyTls(dataKey, vaultId, 'standby') }
    const first = await callHub(call, NEVER)
    await untilTrue(() => line.address() !== undefined)
    const taken = line.take()
    assert.throws(() => line.take(), /no standby is connected/)
    const second = await callHub(call, NEVER)
    await closed(second)
    assert.ok(!first.destroyed)
    first.destroy()
    await closed(taken)
    const third = await callHub(call, NEVER)
    await untilTrue(() => line.address() !== undefined)
    line.take()
    third.destroy()
  })
})

const NEVER = new AbortController().signal

async function openLine({ vaultId, dataKey }: UnsealedVault): Promise<OpenedLine> {
  const tls = standbyTls(dataKey, vaultId, 'hub')
  const line = await listenForStandby({ host: LOOPBACK, port: 0 }, tls, silentLog)
  return { line, [Symbol.asyncDispose]: () => line.close() }
}

interface OpenedLine extends AsyncDisposable {
  readonly line: Awaited<ReturnType<typeof listenForStandby>>
}

async function closed(socket: TLSSocket): Promise<void> {
  await new Promise((resolve) => socket.resume().once('close', resolve))
}
