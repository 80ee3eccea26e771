// svc-server with the vault of a standby: it takes what its hub sends until it is stopped, or promoted. docs/protocol.md STB-3, STB-14.

import type { Clock } from '../../platform/clock.ts'
import type { Secret } from '../../platform/secret.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import type { Logger, Logging } from '../../platform/logger.ts'
import { readTextIfPresent } from '../../platform/files.ts'
import { runWhileOpen } from '../../platform/run-while-open.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import { readVersion } from '../../platform/version.ts'
import { unwrapDataKey } from '../vault/data-key.ts'
import { CONFIG_BYTES_MAX, parseVaultConfig } from '../vault/vault-config.ts'
import { vaultFiles } from '../vault/vault-files.ts'
import { lockVault, type UnsealedVault } from '../vault/vault.ts'
import { type HubCallOptions, keepCalling } from './call-hub.ts'
import {
  beginPromoted,
  finishPromotion,
  type OutsideVault,
  type PromotionFacts,
} from './promote.ts'
import { StandbyCopy } from './standby-copy.ts'
import type { PromoteReply, StandbyMode, StandbyStatus } from '../../protocol/standby.ts'
import { openStandbyDoor } from './standby-door.ts'
import { readRole, writeRole } from './standby-role.ts'
import { createStandbyServer, type StandbyPlace, type StandbyServer } from './standby-server.ts'
import { standbyTls } from './standby-tls.ts'

export interface StandbyConfig {
  readonly vaultRoot: string
  readonly passphrase: Secret<string>
  /** The hub, or the machine that was it. */
  readonly standbyOf: URL | undefined
}

/** Resolves with `promoted` when this machine is the hub from here on. */
export async function runStandby(
  config: StandbyConfig,
  outside: OutsideVault | undefined,
  { logging, clock }: { readonly logging: Logging; readonly clock: Clock },
  stop: AbortSignal,
): Promise<'promoted' | 'stopped'> {
  const { vaultRoot: root, standbyOf: hub } = config
  const log = logging.forModule('hub.standby')
  if (hub === undefined) {
    throw new UserError('config_missing', 'SVC_STANDBY_OF required', {
      hint: 'the vault is the copy of a standby: svc-server --standby https://HUB:8447 says of which hub',
    })
  }
  await using opened = new AsyncDisposableStack()
  const lock = lockVault(root)
  opened.defer(() => lock.release())
  const vault = await unsealStandby(config)
  log.info({ vault_id: vault.vaultId, version: readVersion() }, 'Standby unsealed')
  const copy = await StandbyCopy.open(vault, clock)
  opened.defer(() => copy.close())
  const promoting = { vault, clock, outside }
  if (copy.isPromoted) {
    await finishPromotion(promoting)
    log.warn('A promotion that was committed is finished: this machine is the hub')
    return 'promoted'
  }
  const place = openPlace(root, copy)
  const server = createStandbyServer(place, log)
  const hubHeard = createHeard(server, clock)
  let notePromoted = (_end: 'promoted'): void => undefined
  const promoted = new Promise<'promoted'>((resolve) => {
    notePromoted = resolve
  })
  let committed: PromoteReply | undefined
  const commit = async (force: boolean): Promise<PromoteReply> => {
    const heard = hubHeard()
    if (!force) requirePromotable(copy, place.journal, heard.isConnected)
    const kept = await outside?.readKept(vault.vaultId)
    return copy.endWith(async (store) => {
      const { mode } = place
      const record = copy.position?.number ?? 0
      const facts: PromotionFacts = { record, mode, heardAt: heard.at }
      const { epoch = null } = await beginPromoted(store, { vault, clock, kept }, facts)
      const at = heard.at?.toISOString() ?? null
      return { record, epoch, mode: mode ?? null, hub_heard_at: at } satisfies PromoteReply
    })
  }
  let failure: string | undefined
  const door = await openStandbyDoor({
    socketPath: vaultFiles(root).standbySocket,
    status: () => describe(place, { hub, failure, heard: hubHeard() }),
    promote: async (force) => {
      // One that was committed is finished, however often that has failed.
      committed ??= await commit(force)
      await finishPromotion(promoting)
      const { record, epoch } = committed
      log.warn({ record, epoch }, 'Promoted: this machine is the hub')
      notePromoted('promoted')
      return committed
    },
  })
  opened.use(door)
  opened.use(
    callWhileOpen({
      hub,
      tls: standbyTls(vault.dataKey, vault.vaultId, 'standby'),
      clock,
      take: server.serve,
      wasAsked: server.wasAsked,
      onFailure: (reason) => {
        failure = reason
        log.warn({ hub: hub.origin, reason }, 'Hub not connected, tried again')
      },
    }),
  )
  log.info({ hub: hub.origin }, 'standby started')
  // Not before all of it may close.
  return await Promise.race([promoted, stopped(stop)])
}

interface OpenedPlace extends StandbyPlace {
  /** Of the hub, when it was heard last. */
  readonly mode: StandbyMode | undefined
}

/** One change of the file comes after the other. */
function openPlace(root: string, copy: StandbyCopy): OpenedPlace {
  const role = readRole(root)
  let kept = role?.role === 'standby' ? role : { role: 'standby' as const, journal: '' }
  const changing = createSerialQueue()
  return {
    copy,
    get journal() {
      return kept.journal
    },
    get mode() {
      return kept.mode
    },
    keep: (changes) =>
      changing.run(async () => {
        const next = { ...kept, ...changes }
        if (next.journal === kept.journal && next.mode === kept.mode) return
        await writeRole(root, next)
        kept = next
      }),
  }
}

function callWhileOpen(options: HubCallOptions): AsyncDisposable {
  return runWhileOpen((signal) => keepCalling(options, signal))
}

export async function unsealStandby({
  vaultRoot: root,
  passphrase,
}: Pick<StandbyConfig, 'vaultRoot' | 'passphrase'>): Promise<UnsealedVault> {
  const files = vaultFiles(root)
  const text = (await readTextIfPresent(files.config, CONFIG_BYTES_MAX)) ?? ''
  const config = parseVaultConfig(text, files.config)
  const dataKey = await unwrapDataKey(config, passphrase)
  return { root, vaultId: config.vaultId, databasePath: files.database, dataKey, config }
}

interface Heard {
  readonly at: Date | undefined
  readonly isConnected: boolean
}

function createHeard(server: StandbyServer, clock: Clock): () => Heard {
  return () => {
    const { heard } = server
    if (heard === undefined) return { at: undefined, isConnected: false }
    const agoMs = performance.now() - heard.atMs
    return { at: new Date(clock.now().getTime() - agoMs), isConnected: heard.isConnected }
  }
}

interface Situation {
  readonly hub: URL
  /** Why the hub was not connected last. */
  readonly failure: string | undefined
  readonly heard: Heard
}

function describe(
  { copy, journal, mode }: OpenedPlace,
  { hub, failure, heard }: Situation,
): StandbyStatus {
  const record = copy.position?.number ?? null
  const hearing = heard.isConnected ? 'connected' : 'silent'
  const state = record === null ? 'empty' : journal === '' ? 'behind' : hearing
  return {
    role: 'standby',
    mode: mode ?? null,
    state,
    other: hub.origin,
    reason: heard.isConnected ? null : (failure ?? 'the hub has asked nothing yet'),
    record,
    hub_heard_at: heard.at?.toISOString() ?? null,
  }
}

/** Two machines cannot tell which of them is dead: a person says so. */
function requirePromotable(copy: StandbyCopy, journal: string, isConnected: boolean): void {
  if (copy.position === undefined) {
    throw new SvcError('standby_empty', 'this standby has no copy of the vault yet', {
      hint: 'svc restore makes a hub of a backup',
    })
  }
  if (isConnected) {
    throw new SvcError('hub_alive', 'the hub is connected to this standby', {
      hint: 'stop the hub first; --force promotes all the same, and the hub ends when it hears of it',
    })
  }
  if (journal !== '') return
  throw new SvcError(
    'standby_behind',
    'the hub was sending another copy of the vault: this one lacks writes',
    {
      hint: 'start the hub again, and let it finish; --force promotes the older copy',
    },
  )
}

function stopped(stop: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve('stopped')
    stop.addEventListener('abort', () => resolve('stopped'), { once: true })
  })
}

/** Of a hub: tells the hub that it was the standby of, when that one comes back, that it was promoted. */
export function tellOldHub(
  { vaultId, dataKey }: UnsealedVault,
  { hub, epoch, clock }: TellingOldHub,
  log: Logger,
): AsyncDisposable {
  const server = createStandbyServer({ epoch }, log)
  return callWhileOpen({
    hub,
    tls: standbyTls(dataKey, vaultId, 'standby'),
    clock,
    take: server.serve,
    wasAsked: server.wasAsked,
    // It is away as a rule, or is the standby now.
    onFailure: (reason) => log.debug({ hub: hub.origin, reason }, 'No old hub to tell'),
  })
}

interface TellingOldHub {
  readonly hub: URL
  readonly epoch: () => Promise<number>
  readonly clock: Clock
}
