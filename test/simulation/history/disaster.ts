// Whoever looks after the machine of the hub makes backups; now and then the machine burns, and the hub comes back from one
// of them; now and then somebody puts an old vault in the place of the new one. What docs/protocol.md BKP and CHN promise of
// the day after is held against what comes.

import { parseReceipt } from '../../../src/audit/identity-receipt.ts'
import type { RestoredBackup, RestoreOptions } from '../../../src/hub/backup/restore-vault.ts'
import { SvcError } from '../../../src/platform/errors.ts'
import type { ContractModel } from './contract-model.ts'
import { demand } from './demand.ts'
import type { RememberedFact } from './remembered-facts.ts'
import { type CrashingHost, DATA_DIR } from './crashing-host.ts'
import type { CrashingHub } from './crashing-hub.ts'
import type { Faults } from './faults.ts'
import type { HubInPlace } from './faulty-network.ts'
import type { Kernel } from './kernel.ts'
import { pick } from './kernel.ts'
import { restoreHub } from './restore-hub.ts'
import type { WatchedHost } from './world.ts'

export interface DisasterOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly model: ContractModel
  readonly hub: CrashingHub
  readonly hosts: readonly WatchedHost[]
  /** By an operator, who may not come through. */
  readonly revoke: (host: CrashingHost) => Promise<void>
  readonly surroundRestore: (options: RestoreOptions) => RestoreOptions
  readonly note: (text: string) => void
}

interface TakenBackup {
  readonly bytes: Buffer
  readonly entries: number
  /** Before it. */
  readonly restores: number
  readonly createdAt: Date
}

/** What was so when the hub was lost. */
interface Before {
  readonly facts: readonly RememberedFact[]
  /** Of the checkpoint outside; undefined without one. */
  readonly outside: number | undefined
  readonly identities: readonly KnownIdentity[]
  readonly rootSetNumber: number
}

interface KnownIdentity {
  readonly hostname: string
  readonly serial: string
  readonly isGood: boolean
  readonly receiptAt: Date | undefined
  readonly enrolledAtMs: number
}

const MINUTE_MS = 60_000
const FIRST_BACKUP_MS_MAX = 40 * MINUTE_MS
const PAUSE_MS_MAX = 40 * MINUTE_MS
const RUIN_MS_MAX = 30 * MINUTE_MS
const RESTORES_MAX = 2
/** Somebody is revoked shortly before the hub is lost: the backup does not know it. */
const REVOKED_LIKELIHOOD = 0.5
const LAST_MS_MAX = 5 * MINUTE_MS
const OLDEST = 2
const BACKUP_LIKELIHOOD = 0.3
const LOSS_LIKELIHOOD = 0.4

export class Disaster {
  /** Of a set of roots that a host may trust, and the restored hub not know; 0 where nothing was restored. */
  rootSetNumber = 0
  backups = 0
  restores = 0
  readonly #options: DisasterOptions
  readonly #taken: TakenBackup[] = []
  #cutShort: Buffer | undefined
  /** Hosts that come back with what they have, and the serial of that. */
  readonly #returning = new Map<string, string>()
  #restored: { readonly before: Before; readonly backup: TakenBackup } | undefined

  constructor(options: DisasterOptions) {
    this.#options = options
  }

  /** As long as there is trouble. */
  async live(): Promise<void> {
    const { kernel, faults, hub } = this.#options
    const { random } = kernel
    await kernel.sleep(random() * FIRST_BACKUP_MS_MAX)
    while (!faults.isOver) {
      const way = random()
      if (this.#taken.length === 0 || way < BACKUP_LIKELIHOOD) await this.#backUp()
      else if (way > BACKUP_LIKELIHOOD + LOSS_LIKELIHOOD) hub.rollBack(random() * RUIN_MS_MAX)
      else if (this.restores < RESTORES_MAX) await this.#loseAndRestore()
      await kernel.sleep(random() * PAUSE_MS_MAX)
    }
  }

  /** Whether the host has to come back without anybody's help. */
  isReturning(hostname: string, serial: string): boolean {
    return this.#returning.get(hostname) === serial
  }

  /** The hub has started, and the model has read its log. */
  checkRestored(): void {
    const { model } = this.#options
    const restored = this.#restored
    if (restored === undefined) return
    this.#restored = undefined
    const { before, backup } = restored
    model.checkRemembered(before.facts)
    for (const identity of before.identities) {
      const { hostname, serial } = identity
      if (isPromised(identity, backup, model.knowsCertificate(serial))) {
        this.#returning.set(hostname, serial)
      } else this.#returning.delete(hostname)
    }
  }

  async #backUp(): Promise<void> {
    const place = this.#options.hub.place
    if (place === undefined) return
    const { note, model, kernel } = this.#options
    const acknowledged = model.entryCount
    const taken = await this.#receive(place).catch((error: unknown) => {
      if (!(error instanceof SvcError)) kernel.fail(error)
      note(`svc backup: ${error instanceof SvcError ? error.code : String(error)}`)
    })
    if (!taken) return
    demand(taken.entries >= acknowledged, '[BKP-4] the backup lacks an entry:', acknowledged)
    note(`svc backup: ${taken.entries} entries`)
    this.#taken.push(taken)
    this.backups += 1
  }

  /** Undefined when the hub ends meanwhile; what there is of it then is no backup. */
  #receive({ program, backups }: HubInPlace): Promise<TakenBackup | undefined> {
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = []
      const { restores } = this.#options.model
      program.onDeath(() => {
        // A hub may end after the last byte: then it is a backup.
        if (pieces.length > 0) this.#cutShort = Buffer.concat(pieces).subarray(0, -1)
        resolve(undefined)
      })
      const work = async (): Promise<void> => {
        const { head, stream } = await backups.begin('admin')
        for await (const piece of stream) {
          pieces.push(piece as Buffer)
          await program.step(() => undefined)
        }
        const bytes = Buffer.concat(pieces)
        pieces.length = 0
        const { entries } = head.log
        resolve({ bytes, entries, restores, createdAt: new Date(head.createdAt) })
      }
      program.post(() => void program.run(work).catch(reject))
    })
  }

  async #loseAndRestore(): Promise<void> {
    const { kernel, faults, model, hub, hosts, note } = this.#options
    const { random } = kernel
    // Rather an old one, with more to be remembered since.
    const backup = pick(this.#taken.slice(0, OLDEST), random)
    if (backup === undefined) return
    this.restores += 1
    const revoked = random() < REVOKED_LIKELIHOOD ? pick(hosts, random) : undefined
    if (revoked !== undefined) {
      await this.#options.revoke(revoked.host)
      await kernel.sleep(random() * LAST_MS_MAX)
    }
    await hub.lose()
    const before = this.#look()
    await kernel.sleep(faults.isOver ? 0 : random() * RUIN_MS_MAX)
    await this.#refuseCutShort()
    let restored: RestoredBackup | undefined
    while (restored === undefined) {
      restored = await this.#restore(backup.bytes)
      if (restored === undefined) {
        note('svc restore is killed')
        hub.wipe()
      }
    }
    const { gap, actsDone, head } = restored
    note(`restored: ${head.log.entries} entries, ${actsDone} acts done again, ${gap ?? 'no gap'}`)
    const isTold = (gap === undefined) === (before.outside !== undefined)
    demand(isTold, '[BKP-19] acts are missing, or not:', `${before.outside}: ${gap}`)
    model.beginAgain(backup)
    // The same one may be restored again. Of others from before, the model could not say what is known twice, and what is lost.
    this.#taken.splice(0, Infinity, backup)
    for (const { watch } of hosts) watch.forgetLost()
    this.rootSetNumber = Math.max(this.rootSetNumber, before.rootSetNumber)
    this.#restored = { before, backup }
    hub.startRestored()
  }

  #restore(backup: Buffer): Promise<RestoredBackup | undefined> {
    const { kernel, faults, hub, surroundRestore: surround } = this.#options
    return restoreHub({ kernel, faults, hub, backup, surround })
  }

  /** [BKP-7] [BKP-8] Half a backup is none, and leaves no vault. */
  async #refuseCutShort(): Promise<void> {
    const half = this.#cutShort
    if (half === undefined) return
    this.#cutShort = undefined
    const outcome = await this.#restore(half).catch((error: unknown) => error)
    if (outcome === undefined) this.#options.hub.wipe()
    else demand(outcome instanceof SvcError, '[BKP-7] half a backup is restored:', half.length)
  }

  #look(): Before {
    const { model, hub, hosts, kernel } = this.#options
    const outside = hub.countOutside()
    return {
      outside,
      facts: outside === undefined ? [] : model.remembered.upTo(outside),
      identities: hosts.flatMap(({ host: { hostname }, watch }) => {
        const leaf = watch.readLeaf(`${DATA_DIR}/identity/agent.crt`)
        if (leaf === undefined) return []
        const { serial } = leaf
        const text = watch.readText(`${DATA_DIR}/identity/receipt.json`)
        const kept = text === undefined ? undefined : (JSON.parse(text) as { receipt: string })
        const receipt = kept && parseReceipt(kept.receipt)
        return {
          hostname,
          serial,
          isGood: model.admissionOf(serial, kernel.now().getTime()) === 'yes',
          receiptAt: receipt?.sha256 === leaf.sha256 ? receipt.at : undefined,
          enrolledAtMs: model.enrolledAtMs(hostname) ?? 0,
        }
      }),
      rootSetNumber: model.roots.number,
    }
  }
}

/** [BKP-16] [BKP-17] What the hub knows still, or has signed since the backup and since the host enrolled. */
function isPromised(
  { isGood, receiptAt, enrolledAtMs }: KnownIdentity,
  { createdAt }: TakenBackup,
  isKnown: boolean,
): boolean {
  if (!isGood) return false
  if (isKnown) return true
  return receiptAt !== undefined && receiptAt > createdAt && receiptAt.getTime() >= enrolledAtMs
}
