// Who is who in a troubled fleet: the hosts, when what they have ends, and which of them are in trouble. All of it follows from the
// seed and the time.

import { hostileHostname } from './hostile-texts.ts'
import { type Chance, createChance } from './seeded-chance.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const DOMAIN = 'example.org'
const HOSTILE_HOSTS = 200
/** One in so many is revoked. */
const REVOKED_EVERY = 100

const SITES = ['sao', 'rio', 'poa', 'bsb', 'rec'] as const
/** How many of a hundred hosts have the role. */
const ROLE_SHARES = { web: 34, api: 22, db: 12, edge: 12, batch: 10, bkp: 5, log: 5 } as const
export type TroubledRole = keyof typeof ROLE_SHARES
const ROLE_NAMES = Object.keys(ROLE_SHARES) as TroubledRole[]

export interface TroubledOptions {
  readonly hosts: number
  readonly seed: number
  readonly now: Date
  readonly isHostile: boolean
  /** Of the CA's root, which most hosts have. */
  readonly rootSha256: string
}

export interface Span {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

export interface TroubledHost {
  readonly index: number
  readonly id: string
  readonly hostname: string
  readonly role: TroubledRole
  readonly site: string
  readonly tokenHash: string
  readonly enrolledAtMs: number
  readonly lastPollMs: number
  readonly identity: Span
  readonly revokedAtMs: number | null
  readonly isHostile: boolean
}

export interface TroubledFleet extends TroubledOptions {
  readonly nowMs: number
  readonly chance: Chance
  readonly hosts: number
  readonly all: readonly TroubledHost[]
}

interface Trouble {
  /** From now; what has ended is below 0. */
  readonly endsInMs: number
  readonly silentMs: number
}

/** Looked for by role and site, the first of which gets it. Two of those that are late poll all the same: the CA refuses them. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  'db.sao': { endsInMs: 47 * MINUTE_MS, silentMs: 6 * HOUR_MS + 12 * MINUTE_MS },
  'bkp.rio': { endsInMs: 91 * MINUTE_MS, silentMs: 0 },
  'log.rio': { endsInMs: 178 * MINUTE_MS, silentMs: 0 },
  'edge.poa': { endsInMs: -72 * MINUTE_MS, silentMs: 26 * HOUR_MS },
}

export function planTroubledFleet(options: TroubledOptions): TroubledFleet {
  const { hosts, seed, now, isHostile } = options
  const nowMs = now.getTime()
  const chance = createChance(seed)
  const counts = new Map<string, number>()
  const troubles = new Map(Object.entries(TROUBLES))
  const hostileFrom = hosts - (isHostile ? Math.min(HOSTILE_HOSTS, Math.floor(hosts / 2)) : 0)
  const all = Array.from({ length: hosts }, (_, index) => {
    const { role, site } = placeOf(index, chance)
    const place = `${role}.${site}`
    const number = (counts.get(place) ?? 0) + 1
    counts.set(place, number)
    const isOdd = index >= hostileFrom
    const trouble = isOdd ? undefined : troubles.get(place)
    if (trouble !== undefined) troubles.delete(place)
    const isRevoked = trouble === undefined && index % REVOKED_EVERY === REVOKED_EVERY / 2 - 1
    const enrolledAtMs = nowMs - Math.floor(chance.between(2 * DAY_MS, 60 * DAY_MS))
    return {
      index,
      id: chance.uuid(),
      hostname: isOdd
        ? hostileHostname(index - hostileFrom)
        : `${role}-${number}.${site}.${DOMAIN}`,
      role,
      site,
      tokenHash: chance.hex(64),
      enrolledAtMs,
      lastPollMs: nowMs - silenceOf(trouble, chance),
      identity: identityOf(trouble, nowMs, chance),
      revokedAtMs: isRevoked ? nowMs - Math.floor(chance.between(HOUR_MS, 20 * HOUR_MS)) : null,
      isHostile: isOdd,
    }
  })
  return { ...options, nowMs, chance, all }
}

/** The first hosts are those that shall be in trouble, so that a fleet of a hundred has them too. */
function placeOf(index: number, chance: Chance): { role: TroubledRole; site: string } {
  const [role, site] = Object.keys(TROUBLES)[index]?.split('.') ?? []
  if (role !== undefined && site !== undefined) return { role: role as TroubledRole, site }
  let share = chance.between(0, 100)
  const found = ROLE_NAMES.find((name) => (share -= ROLE_SHARES[name]) < 0)
  return { role: found ?? 'web', site: chance.pick(SITES) }
}

function silenceOf(trouble: Trouble | undefined, chance: Chance): number {
  if (trouble !== undefined && trouble.silentMs > 0) return trouble.silentMs
  // A few are silent for hours, and nothing of what they have ends soon.
  const isSilent = trouble === undefined && chance.next() < 0.004
  return Math.floor(isSilent ? chance.between(3 * HOUR_MS, 9 * HOUR_MS) : chance.between(0, 90_000))
}

function identityOf(trouble: Trouble | undefined, nowMs: number, chance: Chance): Span {
  if (trouble !== undefined) return spanOf(trouble.endsInMs, 24 * HOUR_MS, nowMs)
  const kind = chance.next()
  // Two waves: hosts of one evening's reboots, and those that somebody enrolled in one go.
  const hours =
    kind < 0.3
      ? chance.around(13.2, 0.8)
      : kind < 0.36
        ? chance.around(22, 1.4)
        : chance.between(3.4, 29)
  return freshSpan(hours, { nowMs, chance, lifeHours: [8, 30] })
}

/** Nothing in it is late: more than a sixth of the life is left. */
export function freshSpan(
  endsInHours: number,
  {
    nowMs,
    chance,
    lifeHours: [min, max],
  }: { nowMs: number; chance: Chance; lifeHours: readonly [number, number] },
): Span {
  const lifeMax = Math.min(max, endsInHours * 2.8)
  const life = Math.max(
    min,
    chance.between(endsInHours * 1.02, Math.max(endsInHours * 1.05, lifeMax)),
  )
  return spanOf(Math.floor(endsInHours * HOUR_MS), Math.floor(life * HOUR_MS), nowMs)
}

function spanOf(endsInMs: number, lifeMs: number, nowMs: number): Span {
  const notAfterMs = nowMs + endsInMs
  // What is valid began before now.
  return { notBeforeMs: Math.min(notAfterMs - lifeMs, nowMs - MINUTE_MS), notAfterMs }
}
