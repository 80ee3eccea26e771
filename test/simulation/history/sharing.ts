// Several hubs of one history: the database between them, what befalls it and them, and what each of them has to have in the end.

import { hash } from 'node:crypto'
import { openReader } from '../../../src/hub/store/sqlite/encrypted-database.ts'
import type { Random } from '../seeded-random.ts'
import { ClaimModel } from './claim-model.ts'
import type { CrashingHub } from './crashing-hub.ts'
import { demand } from './demand.ts'
import type { Faults } from './faults.ts'
import type { HubInPlace } from './faulty-network.ts'
import { type Kernel, pick, type Program } from './kernel.ts'
import { NEWS_MS, NewsModel } from './news-model.ts'
import { SimulatedDatabase } from './simulated-database.ts'
import { SimulatedDisk } from './simulated-disk.ts'

export interface SharingOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly random: Random
  readonly vaultId: string
  readonly note: (text: string) => void
}

const HUB_NAMES = ['hub one', 'hub two'] as const
const MINUTE_MS = 60_000
/** Much less than what news may take. */
const LOOK_INTERVAL_MS = 30_000
const AWAY_MS_MAX = 20 * MINUTE_MS
const FAILOVER_MS_MAX = 30_000
/** Hubs that share a vault keep their clocks; docs/protocol.md DBS-7. */
export const SHARED_SKEW_MS = 4000

export class Sharing {
  readonly names = HUB_NAMES
  readonly database: SimulatedDatabase
  readonly claims: ClaimModel
  readonly news: NewsModel
  /** Of the machine that has their segments. */
  readonly archiveDisk = new SimulatedDisk()
  readonly #options: SharingOptions

  constructor(options: SharingOptions) {
    this.#options = options
    const beginning = Buffer.from(
      Array.from({ length: 32 }, () => Math.floor(options.random() * 256)),
    )
    this.database = new SimulatedDatabase({ ...options, beginning })
    this.claims = new ClaimModel(options.kernel)
    this.news = new NewsModel(options.kernel)
  }

  makeTrouble(hubs: readonly CrashingHub[]): void {
    const { faults, kernel } = this.#options
    const { random } = kernel
    const { database } = this
    if (faults.happens('database away')) database.goAway(random() ** 2 * AWAY_MS_MAX, 'is away')
    if (faults.happens('database fails over')) {
      database.goAway(random() * FAILOVER_MS_MAX, 'fails over')
    }
    this.news.noteTrouble(database.awayUntilMs)
    for (const hub of hubs) if (faults.happens('hub frozen')) hub.freeze()
    const [hub, other] = random() < 0.5 ? hubs : hubs.toReversed()
    if (other?.place !== undefined && faults.happens('hub removed')) {
      kernel.background(() => this.#remove(hub, other.place))
    }
  }

  /** For as long as the history goes on. */
  async watchNews(hubs: readonly CrashingHub[]): Promise<never> {
    const { kernel } = this.#options
    for (;;) {
      await kernel.sleep(LOOK_INTERVAL_MS)
      await this.#checkNews(hubs)
    }
  }

  /** While hubs and database hear each other. */
  async #checkNews(hubs: readonly CrashingHub[]): Promise<void> {
    const { news, database } = this
    const { kernel } = this.#options
    const nowMs = kernel.now().getTime()
    news.noteTrouble(database.awayUntilMs)
    for (const { isFrozen, thawedAtMs } of hubs) news.noteTrouble(isFrozen ? nowMs : thawedAtMs)
    if (hubs.some(({ isDiskFull }) => isDiskFull)) news.noteRootTrouble(nowMs)
    const up = hubs.flatMap(({ place, isFrozen }) => (place && !isFrozen ? [place] : []))
    kernel.look(() => news.check(up))
    await news.checkStreams(up)
  }

  /** [HUB-6] [HUB-7] A hub that was frozen, or has had no time to be told, may send what ended elsewhere. */
  isLate(program: Program, endedMs: number): boolean {
    const isOfJobs = this.database.holderOf('jobs') === program
    const sinceMs = Math.max(endedMs, program.thawedAtMs)
    return !isOfJobs || this.#options.kernel.now().getTime() - sinceMs < NEWS_MS
  }

  /** [JRN-1] Undefined when all have the same, at the end of the journal. */
  findTrouble(hubs: readonly CrashingHub[]): string | undefined {
    const { number } = this.database.end
    for (const hub of hubs) {
      if (hub.position !== number) return `${hub.name} has record ${hub.position} of ${number}`
    }
    const [first, ...others] = hubs.map((hub) => digestTables(hub))
    for (const other of others) {
      for (const [table, digest] of other) {
        demand(digest === first?.get(table), '[JRN-1] two hubs, and not the same rows in', table)
      }
    }
    return undefined
  }

  async #remove(hub: CrashingHub | undefined, by: HubInPlace | undefined): Promise<void> {
    if (hub === undefined || by === undefined) return
    // The database may be away, or the hub be killed meanwhile.
    await by.program.run(() => hub.removeBy(by)).catch(() => undefined)
  }
}

/** One of those that are up; a client that finds one of them silent comes to the other in the end. */
export function findAnyHub(hubs: readonly CrashingHub[], random: Random): HubInPlace | undefined {
  const [first] = hubs
  if (hubs.length === 1) return first?.place
  const up = hubs.flatMap(({ place }) => place ?? [])
  return pick(up, random)
}

/** Read beside the hub, of what it has committed. */
function digestTables({ vault }: CrashingHub): ReadonlyMap<string, string> {
  const connection = openReader(vault.databasePath, vault.dataKey)
  try {
    const names = connection
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
      .pluck()
      .all() as string[]
    return new Map(
      names.map((name) => {
        const rows = connection.prepare(`SELECT * FROM "${name}"`).all()
        const texts = rows.map((row) => JSON.stringify(row, plainly)).sort()
        return [name, hash('sha256', texts.join('\n'))]
      }),
    )
  } finally {
    connection.close()
  }
}

function plainly(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
