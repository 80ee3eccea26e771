// svc-server as a standby, in this process: its status, its promotion, and what a kill within that leaves. docs/protocol.md STB-13 to STB-15.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  openStandbyScene,
  openTogether,
  PASSPHRASE,
  type StandbyScene,
  untilTrue,
  urlOf,
  writeEntry,
} from '../../../test/support/standby-scene.ts'
import { runSvcHere } from '../../../test/support/run-svc.ts'
import { systemClock } from '../../platform/clock.ts'
import { createLogging } from '../../platform/logger.ts'
import type { VaultStore } from '../open-store.ts'
import { vaultFiles } from '../vault/vault-files.ts'
import type { OutsideVault } from './promote.ts'
import { runStandby } from './run-standby.ts'
import { makeStandbyDirectory, readRole, writeRole } from './standby-role.ts'

const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })

interface RunningStandby extends AsyncDisposable {
  readonly root: string
  readonly ended: Promise<'promoted' | 'stopped'>
  svc(
    ...words: readonly string[]
  ): Promise<{ status: number | null; stderr: string; stdout: string }>
  status(): Promise<{ state: string; reason: string | null; record: number | null }>
  stop(): Promise<'promoted' | 'stopped'>
}

/** Of the hub of the scene; in this directory, or in a new one. */
async function startStandby(
  scene: StandbyScene,
  { root: given, outside }: { readonly root?: string; readonly outside?: OutsideVault } = {},
): Promise<RunningStandby> {
  const root = given ?? join(await mkdtemp(join(tmpdir(), 'run-standby-')), 'vault')
  if (given === undefined) {
    const config = await readFile(vaultFiles(scene.vault.root).config, 'utf8')
    await makeStandbyDirectory(root, config)
  }
  const stopping = new AbortController()
  const config = { vaultRoot: root, passphrase: PASSPHRASE, standbyOf: urlOf(scene.port) }
  const ended = runStandby(config, outside, { logging, clock: systemClock }, stopping.signal)
  // A test that needs it awaits it.
  ended.catch(() => undefined)
  const svc = (...words: readonly string[]) =>
    runSvcHere(words, { SVC_VAULT_ROOT: root, SVC_MASTER_PASSPHRASE: PASSPHRASE.reveal() })
  const stop = (): Promise<'promoted' | 'stopped'> => {
    stopping.abort()
    return ended
  }
  return {
    root,
    ended,
    svc,
    status: async () => JSON.parse((await svc('standby', 'status', '--json')).stdout),
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop().catch(() => undefined)
      if (given === undefined) await rm(join(root, '..'), { recursive: true })
    },
  }
}

async function startPair(
  scene: StandbyScene,
  outside?: OutsideVault,
): Promise<{ readonly store: VaultStore; readonly standby: RunningStandby }> {
  const standby = await startStandby(scene, outside === undefined ? {} : { outside })
  const store = await scene.openHub('required')
  await untilTrue(() => store.standby?.state() === 'together')
  await writeEntry(store)
  return { store, standby }
}

const NOTHING_KEPT = { checkpoints: [], earlier: [], acts: [] }

describe('a promotion', () => {
  test('[STB-14] that is killed before its transaction leaves the standby, which takes what comes', async () => {
    await using scene = await openStandbyScene()
    const { store, standby } = await startPair(scene, {
      readKept: () => Promise.reject(new Error('EACCES: permission denied')),
      setAside: async () => undefined,
    })
    await using _ = standby
    const { status, stderr } = await standby.svc('standby', 'promote', '--force')
    assert.equal(status, 1)
    assert.match(stderr, /EACCES: permission denied/)
    await writeEntry(store)
    await standby.stop()
    assert.equal(readRole(standby.root)?.role, 'standby')
    await using again = await startStandby(scene, { root: standby.root })
    await untilTrue(() => store.standby?.state() === 'together')
    await writeEntry(store)
    assert.equal((await again.status()).record, store.standby?.position())
  })

  test('[STB-14] that is killed after its transaction is finished by the next start', async () => {
    await using scene = await openStandbyScene()
    let failures = 0
    const { store, standby } = await startPair(scene, {
      readKept: async () => NOTHING_KEPT,
      setAside: () => {
        failures += 1
        return Promise.reject(new Error('ENOSPC: no space left on device'))
      },
    })
    await using _ = standby
    const { status, stderr } = await standby.svc('standby', 'promote', '--force')
    assert.equal(status, 1)
    assert.match(stderr, /ENOSPC: no space left on device/)
    assert.equal(failures, 1)
    await assert.rejects(writeEntry(store), { code: 'hub_deposed' })
    await standby.stop()
    assert.equal(readRole(standby.root)?.role, 'standby')
    await using again = await startStandby(scene, { root: standby.root })
    assert.equal(await again.ended, 'promoted')
    assert.deepEqual(readRole(standby.root), { role: 'hub', journal: '', met: false })
  })

  test('[STB-14] that could not be finished is finished by the next one, without a start', async () => {
    await using scene = await openStandbyScene()
    let isFull = true
    const { standby } = await startPair(scene, {
      readKept: async () => NOTHING_KEPT,
      setAside: async () => {
        if (isFull) throw new Error('ENOSPC: no space left on device')
      },
    })
    await using _ = standby
    assert.equal((await standby.svc('standby', 'promote', '--force')).status, 1)
    isFull = false
    const { status, stderr } = await standby.svc('standby', 'promote', '--force')
    assert.equal(status, 0, stderr)
    assert.equal(await standby.ended, 'promoted')
    assert.equal(readRole(standby.root)?.role, 'hub')
  })
})

describe('a standby', () => {
  test('[STB-13] [STB-4] of a hub that has one already is turned away, and says so', async () => {
    await using scene = await openStandbyScene()
    await openTogether(scene)
    await using second = await startStandby(scene)
    await untilStatus(second)
    let status = await second.status()
    for (let tries = 0; tries < 100 && !/another standby/.test(status.reason ?? ''); tries += 1) {
      await sleep(50)
      status = await second.status()
    }
    assert.equal(status.state, 'empty')
    assert.equal(
      status.reason,
      'the hub closed the connection and asked nothing: it has another standby, or stops',
    )
  })

  test('[STB-13] [STB-15] that another copy of the vault was on its way to is behind, and is promoted by force alone', async () => {
    await using scene = await openStandbyScene()
    const { store, standby } = await startPair(scene)
    await using _ = standby
    await standby.stop()
    await store.close()
    await writeRole(standby.root, { role: 'standby', journal: '' })
    await using again = await startStandby(scene, { root: standby.root })
    await untilStatus(again)
    assert.equal((await again.status()).state, 'behind')
    const { status, stderr } = await again.svc('standby', 'promote')
    assert.equal(status, 1)
    assert.match(stderr, /^svc: error: the hub was sending another copy of the vault/)
    const restarted = await scene.openHub('required')
    await untilTrue(() => restarted.standby?.state() === 'together')
    assert.equal((await again.status()).state, 'connected')
  })

  test('[STB-13] ends although somebody holds its socket, and has asked nothing', async () => {
    await using scene = await openStandbyScene()
    await using standby = await startStandby(scene)
    await untilStatus(standby)
    const socket = connect(vaultFiles(standby.root).standbySocket)
    socket.on('error', () => undefined)
    await new Promise((resolve) => socket.once('connect', resolve))
    const beganMs = performance.now()
    assert.equal(await standby.stop(), 'stopped')
    assert.ok(performance.now() - beganMs < 5000)
    socket.destroy()
  })

  test('[STB-2] with a damaged standby.json does not start', async () => {
    await using scene = await openStandbyScene()
    await using standby = await startStandby(scene)
    await untilStatus(standby)
    await standby.stop()
    await writeFile(vaultFiles(standby.root).standby, '{"role":"stand')
    await using again = await startStandby(scene, { root: standby.root })
    await assert.rejects(again.ended, { code: 'vault_corrupt' })
  })
})

async function untilStatus(standby: RunningStandby): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await standby.svc('standby', 'status')).status === 0) return
    await sleep(20)
  }
  assert.fail('the standby does not answer')
}
