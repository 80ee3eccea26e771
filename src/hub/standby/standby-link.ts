// A hub's side of its standby: opened with the vault, and brought up to what the hub has, at the start and whenever it was away.
// docs/protocol.md STB-9 to STB-11.

import { randomBytes } from 'node:crypto'
import type { BindAddress } from '../../platform/bind-address.ts'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { BackupPace } from '../backup/backup-pace.ts'
import { makeImage } from '../journal/make-image.ts'
import { ImageSeal } from '../store/image-seal.ts'
import { isSamePosition, NO_JOURNAL, RecordSeal } from '../store/record-seal.ts'
import type { SharedJournal } from '../store/sqlite/journal-follower.ts'
import { enterJournal, inspectJournalPosition } from '../store/sqlite/enter-journal.ts'
import type { SqliteStore } from '../store/sqlite/sqlite-store.ts'
import { StoreError } from '../store/store-error.ts'
import type { UnsealedVault } from '../vault/vault.ts'
import { StandbyClient } from './standby-client.ts'
import { isFinal, StandbyJournal } from './standby-journal.ts'
import type { StandbyMode, StandbyState } from '../../protocol/standby.ts'
import { listenForStandby } from './standby-line.ts'
import { readRole, writeRole } from './standby-role.ts'
import { standbyTls } from './standby-tls.ts'

export interface StandbySettings {
  /** Where the standby connects. */
  readonly bind: BindAddress
  readonly mode: StandbyMode
  readonly log: Logger
  readonly pace: BackupPace
}

export interface StandbyLink {
  readonly shared: SharedJournal
  readonly mode: StandbyMode
  /** Where the standby connects. */
  readonly port: number
  /** Of the standby that is connected. */
  readonly address: () => string | undefined
  readonly state: () => StandbyState
  /** Why they are not together. */
  readonly reason: () => string | undefined
  /** Of the last record that is here. */
  readonly position: () => number
  /** Resolves when the standby was promoted. */
  readonly deposed: Promise<StoreError>
  /** Before anybody else writes. Throws StoreError when the standby has to be there and is not. */
  start(store: SqliteStore): Promise<void>
  run(this: void, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const LOOK_MS = 1000
const START_MS = 10_000
/** One that runs connects within a second. */
const ARRIVE_MS = 3000
/** Once so few are left, the rest is sent within a turn. */
const NEAR = 32

/** Of a vault that nobody has open: it becomes one that has a standby. */
export async function openStandbyLink(
  vault: UnsealedVault,
  { bind, mode, log, pace }: StandbySettings,
  clock: Clock,
): Promise<StandbyLink> {
  const { root, vaultId, dataKey } = vault
  const { journal: journalId, met } = await enterStandbyJournal(vault)
  const line = await listenForStandby(bind, standbyTls(dataKey, vaultId, 'hub'), log)
  const client = new StandbyClient(line, randomBytes(16).toString('hex'))
  let store: SqliteStore | undefined
  const journal = new StandbyJournal({
    client,
    mode,
    journal: journalId,
    isMet: met,
    noteMet: () => writeRole(root, { role: 'hub', journal: journalId, met: true }),
    epoch: async () => (await store?.reader.findLogTree())?.epoch ?? 0,
    noteDeposed: (epoch) => writeRole(root, { role: 'deposed', epoch }),
    clock,
    log,
  })
  const imageSeal = new ImageSeal(dataKey, vaultId)

  const sendImage = async (
    from: SqliteStore,
    isHurried: boolean,
    signal?: AbortSignal,
  ): Promise<void> => {
    log.info('Copy of the vault goes to the standby')
    const made = await makeImage(
      {
        store: { openCopy: (manners) => from.openCopy(manners), follow: async () => undefined },
        images: { begin: async (head) => client.beginImage(head, journalId) },
        seal: imageSeal,
        clock,
        pace: isHurried ? undefined : pace,
      },
      signal,
    )
    journal.noteImage()
    log.info({ record: made?.position.number, bytes: made?.bytes }, 'Standby has a copy')
  }
  /** Up to where the last turn may be under way still. */
  const sendRecords = async (from: SqliteStore, after: number): Promise<void> => {
    let sent = after
    while (from.position - sent > NEAR) {
      const records = from.listKept(sent).filter(({ number }) => number < from.position)
      if (records.length === 0) return
      for (const record of records) sent = (await client.append(record)).number
    }
  }
  /** Within a turn, when that is soon done. */
  const meet = async (from: SqliteStore): Promise<void> => {
    if ((await journal.look()) === undefined) return
    journal.retry()
    await from.follow()
  }
  /** Throws what the turn says that finds the standby not together with this hub. */
  const bringUp = async (
    from: SqliteStore,
    isHurried: boolean,
    signal?: AbortSignal,
  ): Promise<void> => {
    for (let tries = 0; tries < 3; tries += 1) {
      const failure = await failureOf(meet(from))
      const { lack } = journal
      if (lack === undefined) {
        if (failure !== undefined) throw failure
        return
      }
      await journal.bring(async () => {
        // The turn has left the connection.
        const again = await journal.look()
        if (again === undefined) return
        if (lack === 'image') await sendImage(from, isHurried, signal)
        else await sendRecords(from, again.end?.number ?? 0)
      })
    }
  }
  return {
    mode,
    port: line.port,
    address: line.address,
    state: () => journal.state,
    reason: () => (journal.state === 'together' ? undefined : journal.reason),
    position: () => store?.position ?? 0,
    deposed: journal.deposed,
    shared: {
      journal,
      seal: new RecordSeal(dataKey, vaultId),
      keptBytes: () => journal.keptBytes,
    },
    async start(opened) {
      store = opened
      journal.keepIn((after) => opened.listKept(after))
      // Nobody was promised anything yet.
      if (!met) {
        await failureOf(meet(opened))
        return
      }
      const isRequired = mode === 'required'
      const beganMs = clock.now().getTime()
      while (line.address() === undefined && clock.now().getTime() < beganMs + ARRIVE_MS) {
        await clock.sleep(LOOK_MS / 10)
      }
      for (;;) {
        const failure = await failureOf(isRequired ? bringUp(opened, true) : meet(opened))
        const { fault } = journal
        if (fault === undefined) return
        if (failure !== undefined && isFinal(failure)) throw failure
        if (isFinal(fault)) throw fault
        if (clock.now().getTime() >= beganMs + START_MS) throw failure ?? fault
        await clock.sleep(LOOK_MS / 4)
      }
    },
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          if (journal.state === 'together') await journal.look()
          else if (store !== undefined) await bringUp(store, false, signal)
        } catch (error) {
          if (signal.aborted) return
          log.warn({ reason: describeError(error) }, 'Standby not brought up, tried again')
        }
        // The signal ends the wait.
        await clock.sleep(LOOK_MS, signal).catch(() => undefined)
      }
    },
    close: async () => {
      await journal.close()
      await line.close()
    },
  }
}

async function failureOf(work: Promise<void>): Promise<StoreError | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}

/** Written by itself, or new to a standby, a vault begins another journal: its standby takes a copy of it first. */
async function enterStandbyJournal({
  root,
  databasePath,
  dataKey,
}: UnsealedVault): Promise<{ readonly journal: string; readonly met: boolean }> {
  const role = readRole(root)
  const position = inspectJournalPosition(databasePath, dataKey)
  if (role?.role === 'hub' && role.journal !== '' && !isSamePosition(position, NO_JOURNAL)) {
    return role
  }
  const journal = randomBytes(16).toString('hex')
  const met = role?.role === 'hub' && role.met
  await writeRole(root, { role: 'hub', journal, met })
  enterJournal(databasePath, dataKey, { number: 0, hash: randomBytes(32) })
  return { journal, met }
}
