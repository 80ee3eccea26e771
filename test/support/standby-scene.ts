// A hub's store and its standby in one process, over real connections.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { BACKUP_PACE } from '../../src/hub/backup/backup-pace.ts'
import { openVaultStore, type VaultStore } from '../../src/hub/open-store.ts'
import { appendEntry } from '../../src/hub/service/append-entries.ts'
import { hubAct } from '../../src/hub/service/hub-acts.ts'
import { keepCalling } from '../../src/hub/standby/call-hub.ts'
import { StandbyCopy } from '../../src/hub/standby/standby-copy.ts'
import {
  createStandbyServer,
  type StandbyPlace,
  type StandbyServer,
} from '../../src/hub/standby/standby-server.ts'
import { standbyTls } from '../../src/hub/standby/standby-tls.ts'
import type { JournalRecord } from '../../src/hub/store/journal.ts'
import { vaultFiles } from '../../src/hub/vault/vault-files.ts'
import { unsealVault, type UnsealedVault } from '../../src/hub/vault/vault.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLogging, type Logger } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { StandbyMode } from '../../src/protocol/standby.ts'
import { HubEventType } from '../../src/protocol/words.ts'
import { initCheapVault } from './cheap-vault.ts'
import { findFreePort } from './free-port.ts'

export const PASSPHRASE: Secret<string> = new Secret('correct horse battery staple')
export const LOOPBACK = '127.0.0.1'
export const silentLog: Logger = createLogging({
  filter: { levelOf: () => 'off' },
  format: 'json',
}).forModule('test')

export const urlOf = (port: number): URL => new URL(`https://${LOOPBACK}:${port}`)

export interface StandbyScene extends AsyncDisposable {
  readonly vault: UnsealedVault
  readonly copy: StandbyCopy
  /** What the standby answers with. */
  readonly server: StandbyServer
  /** Where the hub takes the connection. */
  readonly port: number
  /** The standby connects, from then on. Through another port, when a network is in between. */
  connect(port?: number): void
  /** Closes its connection; it makes another one. */
  hangUp(): void
  openHub(mode: StandbyMode): Promise<VaultStore>
  /** What happens to each record instead. */
  onRecord: ((record: JournalRecord, run: () => Promise<unknown>) => Promise<void>) | undefined
  /** Before an image is taken, and when it is there. */
  onImage: ((when: 'begun' | 'received') => Promise<void>) | undefined
}

/** The standby is not connected yet. Its database is in a directory of its own, or in this one. */
export async function openStandbyScene(standbyRoot?: string): Promise<StandbyScene> {
  const stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'standby-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const root = standbyRoot ?? directory
  await initCheapVault(join(directory, 'hub'), PASSPHRASE)
  const vault = await unsealVault(join(directory, 'hub'), PASSPHRASE)
  const databasePath = vaultFiles(root).database
  const copy = await StandbyCopy.open({ ...vault, root, databasePath }, systemClock)
  stack.defer(() => copy.close())
  const scene: Pick<StandbyScene, 'onRecord' | 'onImage'> = {
    onRecord: undefined,
    onImage: undefined,
  }
  const append = copy.append.bind(copy)
  copy.append = async (record) => {
    let end: Awaited<ReturnType<typeof append>> | undefined
    const run = async (): Promise<void> => {
      end = await append(record)
    }
    await (scene.onRecord?.(record, run) ?? run())
    assert.ok(end)
    return end
  }
  let journal = ''
  const place: StandbyPlace = {
    copy,
    get journal() {
      return journal
    },
    keep: async (changes) => {
      if (changes.journal !== undefined) {
        await scene.onImage?.(changes.journal === '' ? 'begun' : 'received')
      }
      journal = changes.journal ?? journal
    },
  }
  const tls = standbyTls(vault.dataKey, vault.vaultId, 'standby')
  const server = createStandbyServer(place, silentLog)
  const bind = { host: LOOPBACK, port: await findFreePort() }
  const stopping = new AbortController()
  const calls: Promise<void>[] = []
  let connection: TLSSocket | undefined
  stack.defer(async () => {
    stopping.abort()
    await Promise.all(calls)
  })
  return Object.assign(scene, {
    vault,
    copy,
    server,
    port: bind.port,
    connect: (port = bind.port) => {
      const hub = urlOf(port)
      const { wasAsked } = server
      const take = (socket: TLSSocket): void => {
        connection = socket
        server.serve(socket)
      }
      const call = { hub, tls, clock: systemClock, take, wasAsked, onFailure: () => undefined }
      calls.push(keepCalling(call, stopping.signal))
    },
    hangUp: () => void connection?.destroy(),
    openHub: async (mode: StandbyMode) => {
      const pace = { ...BACKUP_PACE, heldBytesMax: 1e9 }
      const standby = { bind, mode, log: silentLog, pace }
      const store = await openVaultStore(vault, { clock: systemClock, standby })
      const looking = new AbortController()
      const running = store.standby?.run(looking.signal)
      const end = async (): Promise<void> => {
        looking.abort()
        await Promise.all([running, store.close()])
      }
      let closing: Promise<void> | undefined
      const close = (): Promise<void> => (closing ??= end())
      stack.defer(close)
      return { ...store, reader: store.reader, close }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  })
}

/** A hub whose standby has everything. */
export async function openTogether(
  scene: StandbyScene,
  mode: StandbyMode = 'required',
): Promise<VaultStore> {
  scene.connect()
  const store = await scene.openHub(mode)
  await untilTrue(() => store.standby?.state() === 'together')
  return store
}

export const writeEntry = (store: VaultStore): Promise<unknown> =>
  store.write((writer) =>
    appendEntry(writer, hubAct(new Date(), HubEventType.tokenRevoked, { actor: 'hub' })),
  )

export const countEntries = async (store: VaultStore): Promise<number> =>
  (await store.reader.findChainEnd())?.seq ?? 0

export async function untilTrue(isSo: () => boolean): Promise<void> {
  for (let count = 0; count < 1000 && !isSo(); count += 1) await systemClock.sleep(20)
  assert.ok(isSo())
}
