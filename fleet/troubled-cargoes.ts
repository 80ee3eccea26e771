// What a troubled fleet is given: certificates, a sealed secret and a file, and how far each is.

import { hostileText } from './hostile-texts.ts'
import {
  freshSpan,
  type Span,
  type TroubledFleet,
  type TroubledHost,
  type TroubledRole,
} from './troubled-plan.ts'

const HOUR_MS = 3_600_000

export interface TroubledCargo {
  readonly id: string
  readonly name: string
  readonly kind: 'csr_cert' | 'selado' | 'push'
  readonly version: number
  readonly sans: readonly string[]
  /** Undefined: all. */
  readonly roles: readonly TroubledRole[] | undefined
  readonly createdAtMs: number
}

export interface TroubledDelivery {
  readonly id: string
  readonly cargo: TroubledCargo
  readonly host: TroubledHost
  readonly status: 'pendente' | 'em_andamento' | 'instalada' | 'entregue' | 'falhou' | 'cancelada'
  readonly updatedAtMs: number
  readonly error: string | null
  readonly span: Span | undefined
}

export const ROLLED_OUT = 'site'
export const FROZEN_ROLLOUT = 'api-tls'

const CARGOES: readonly Omit<TroubledCargo, 'id' | 'createdAtMs'>[] = [
  {
    name: ROLLED_OUT,
    kind: 'csr_cert',
    version: 6,
    sans: ['www.example.org', 'shop.example.org'],
    roles: ['web'],
  },
  {
    name: FROZEN_ROLLOUT,
    kind: 'csr_cert',
    version: 3,
    sans: ['api.example.org'],
    roles: ['api'],
  },
  { name: 'edge-tls', kind: 'csr_cert', version: 2, sans: ['cdn.example.org'], roles: ['edge'] },
  { name: 'db-password', kind: 'selado', version: 4, sans: [], roles: ['db'] },
  { name: 'backup-key', kind: 'selado', version: 1, sans: [], roles: ['bkp'] },
  { name: 'motd', kind: 'push', version: 12, sans: [], roles: undefined },
]

const REASONS = [
  'write /etc/motd: no space left on device',
  'hook post-csr-cert: exit 1: nginx: [emerg] host not found in upstream "cache-3"',
  'open: the file is sealed for another recipient',
  'ca_failed: the CA did not answer within 10 s',
]

export function planCargoes({ chance, nowMs, isHostile }: TroubledFleet): TroubledCargo[] {
  const planned = CARGOES.map((cargo, index) => ({
    ...cargo,
    id: chance.uuid(),
    createdAtMs: nowMs - (70 - index) * 24 * HOUR_MS,
  }))
  if (!isHostile) return planned
  // Names of cargo are names of files: what the hub takes are dots, dashes and length.
  const odd = ['w'.repeat(60), '...dots...', 'constructor', '-------']
  return [
    ...planned,
    ...odd.map((name) => ({
      id: chance.uuid(),
      name,
      kind: 'push' as const,
      version: 1,
      sans: [],
      roles: ['log' as const],
      createdAtMs: nowMs - 60 * 24 * HOUR_MS,
    })),
  ]
}

export function* planDeliveries(
  fleet: TroubledFleet,
  cargoes: readonly TroubledCargo[],
): Generator<TroubledDelivery> {
  const { chance, nowMs } = fleet
  for (const cargo of cargoes) {
    for (const host of fleet.all) {
      if (cargo.roles !== undefined && !cargo.roles.includes(host.role)) continue
      const status = statusOf(host, cargo, fleet)
      const isThere = status === 'instalada'
      const span = isThere ? deliverySpan(cargo, fleet) : undefined
      const since = span?.notBeforeMs ?? nowMs - chance.between(4.2 * HOUR_MS, 40 * HOUR_MS)
      yield {
        id: chance.uuid(),
        cargo,
        host,
        status,
        updatedAtMs: Math.floor(Math.max(since, host.enrolledAtMs)),
        error: status === 'falhou' ? reasonOf(host, fleet) : null,
        span,
      }
    }
  }
}

function reasonOf(host: TroubledHost, { chance }: TroubledFleet): string {
  return host.isHostile ? hostileText(host.index) : chance.pick(REASONS)
}

function statusOf(
  host: TroubledHost,
  { kind, name }: TroubledCargo,
  { chance, hosts }: TroubledFleet,
): TroubledDelivery['status'] {
  if (host.revokedAtMs !== null) return 'cancelada'
  const done = kind === 'csr_cert' ? 'instalada' : 'entregue'
  if (host.isHostile && kind === 'push') return host.index % 2 === 0 ? 'falhou' : done
  // Those of rollouts go on tonight.
  if (name === ROLLED_OUT || name === FROZEN_ROLLOUT) return done
  const kindOf = chance.next()
  if (kindOf < Math.max(0.001, 2 / hosts)) return 'falhou'
  if (kindOf < 0.01) return 'pendente'
  return kindOf < 0.013 ? 'em_andamento' : done
}

function deliverySpan({ name }: TroubledCargo, { chance, nowMs }: TroubledFleet): Span {
  const isOfWave = name === ROLLED_OUT && chance.next() < 0.42
  const hours = isOfWave ? chance.around(33.5, 1.6) : chance.between(5, 58)
  return freshSpan(hours, { nowMs, chance, lifeHours: [12, 72] })
}
