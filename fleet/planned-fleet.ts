// Which agents, entregas and certificates a filled vault has, each computed from its number: nothing is held for a million.

import { hash } from 'node:crypto'

const DAY_MS = 86_400_000
const PAST_DAYS = 90
const ROLES = 20
/** A role of its own for a handful of agents, whose size is that of any vault. */
export const SMALL_ROLE = 'small'
const SMALL_ROLE_AGENTS = 10
/** One agent in so many is revoked, and its certificates are so at the CA too. */
const REVOKED_EVERY = 100

export interface FilledSizes {
  readonly agents: number
  readonly certificates: number
  readonly entries: number
}

export interface PlannedAgent {
  readonly index: number
  readonly id: string
  readonly hostname: string
  readonly role: string
  readonly tokenHash: string
  readonly deliveryId: string
  readonly isRevoked: boolean
}

export interface PlannedCertificate {
  readonly seq: number
  readonly agent: PlannedAgent
  readonly sha256: string
  readonly serial: string
  /** Every second one; else it is an identity. */
  readonly isDelivery: boolean
  readonly issuedAtMs: number
  readonly notAfterMs: number
}

export interface PlannedFleet {
  readonly sizes: FilledSizes
  readonly startMs: number
  readonly nowMs: number
  readonly agents: readonly PlannedAgent[]
  readonly roles: readonly string[]
  readonly cargoIdOf: (role: string) => string
  /** Round by round: first one for each agent, then the next. */
  readonly certificate: (seq: number) => PlannedCertificate
}

export function planFleet(sizes: FilledSizes, now: Date): PlannedFleet {
  const nowMs = now.getTime()
  const startMs = nowMs - PAST_DAYS * DAY_MS
  const agents = Array.from({ length: sizes.agents }, (_, index) => planAgent(index))
  const rounds = Math.max(1, Math.ceil(sizes.certificates / sizes.agents))
  const roundMs = (nowMs - startMs) / rounds
  return {
    sizes,
    startMs,
    nowMs,
    agents,
    roles: [...new Set(agents.map(({ role }) => role))],
    cargoIdOf: (role) => uuidOf(`carga ${role}`),
    certificate: (seq) => {
      const index = seq - 1
      const agent = agents[index % sizes.agents] as PlannedAgent
      const round = Math.floor(index / sizes.agents)
      const issuedAtMs = Math.floor(
        startMs + roundMs * (round + (index % sizes.agents) / sizes.agents),
      )
      const sha256 = sha256OfCertificate(seq)
      return {
        seq,
        agent,
        sha256,
        serial: sha256.slice(0, 32),
        isDelivery: round % 2 === 1,
        issuedAtMs,
        // Identity and delivery take turns: the older of the two in use is from the round before the last.
        notAfterMs: Math.floor(issuedAtMs + Math.max(6 * roundMs, 30 * DAY_MS)),
      }
    },
  }
}

function planAgent(index: number): PlannedAgent {
  return {
    index,
    id: uuidOf(`agente ${index}`),
    hostname: `host-${String(index + 1).padStart(6, '0')}.fleet.example`,
    role: index < SMALL_ROLE_AGENTS ? SMALL_ROLE : `role-${index % ROLES}`,
    tokenHash: hash('sha256', `token ${index}`, 'hex'),
    deliveryId: uuidOf(`entrega ${index}`),
    isRevoked: index % REVOKED_EVERY === REVOKED_EVERY - 1,
  }
}

export function sha256OfCertificate(seq: number): string {
  return hash('sha256', `certificate ${seq}`, 'hex')
}

/** In the form of a random UUID, and as scattered in an index. */
function uuidOf(name: string): string {
  const hex = hash('sha256', name, 'hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`]
  return [...parts, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
}
