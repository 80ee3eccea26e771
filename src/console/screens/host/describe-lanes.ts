// What the lanes of a host show, out of what the hub says of it. Pure.

import type { Lane, LaneBar, LaneMark } from '../../pictures/lanes.tsx'
import type { AdminReplies } from '../../api/operations.ts'
import { type Host, orderDeliveries } from './explain-host.ts'

type Entry = AdminReplies['listEntries']['eventos'][number]

export interface LaneWords {
  readonly connection: string
  readonly stream: string
  readonly identity: string
  readonly ends: (at: string) => string
  readonly onHostSince: (at: string) => string
  readonly tipos: Readonly<Record<string, string>>
  readonly statuses: Readonly<Record<string, string>>
  readonly notConnected: string
  readonly life: (ms: number) => string
}

const LANES_MAX = 12

export function describeLanes(host: Host, nowMs: number, words: LaneWords): Lane[] {
  const identity = host.certificados.find(({ purpose }) => purpose === 'identity')
  const lanes: Lane[] = [
    {
      key: 'connection',
      label: words.connection,
      kind: words.stream,
      bars:
        host.online_since === null
          ? []
          : [{ fromMs: Date.parse(host.online_since), untilMs: nowMs, tone: 'connected' }],
      note: host.online_since === null ? words.notConnected : undefined,
    },
  ]
  if (identity !== undefined) {
    lanes.push({
      key: 'identity',
      label: words.identity,
      kind: words.life(Date.parse(identity.not_after) - Date.parse(identity.not_before)),
      bars: barsOf(identity),
      note: words.ends(identity.not_after),
    })
  }
  for (const delivery of orderDeliveries(host.entregas).slice(0, LANES_MAX)) {
    const { id, nome, versao, tipo, status, updated_at: since } = delivery
    const certificate = host.certificados.find(({ entrega_id: of }) => of === id)
    const isOnHost = status === 'instalada' || status === 'entregue'
    lanes.push({
      key: id,
      label: nome,
      kind: words.tipos[tipo] ?? tipo,
      bars:
        certificate === undefined
          ? [
              {
                fromMs: Date.parse(since),
                untilMs: nowMs,
                tone: status === 'falhou' ? 'bad' : isOnHost ? 'force' : 'renew',
                text: `v${versao}`,
              },
            ]
          : barsOf(certificate, `v${versao}`),
      note:
        certificate === undefined
          ? isOnHost
            ? words.onHostSince(since)
            : words.statuses[status]
          : words.ends(certificate.not_after),
    })
  }
  return lanes
}

/** In force, and from its renewal on in another colour: then there should be a newer one. */
function barsOf(
  certificate: Pick<
    Host['certificados'][number],
    'not_before' | 'not_after' | 'renewal_expected_at'
  >,
  text?: string,
): LaneBar[] {
  const [from, renewal, until] = [
    certificate.not_before,
    certificate.renewal_expected_at,
    certificate.not_after,
  ].map((at) => Date.parse(at)) as [number, number, number]
  return [
    { fromMs: from, untilMs: renewal, tone: 'force', text },
    { fromMs: renewal, untilMs: until, tone: 'renew' },
  ]
}

const BAD = new Set([
  'entrega_falhou',
  'alvo_revertido',
  'hook_falhou',
  'certificate_late',
  'bundle_refused',
])

export function describeMarks(steps: readonly Entry[]): LaneMark[] {
  return steps.map(({ timestamp, tipo_evento: tipo, entrega_id: lane }, at) => ({
    number: at + 1,
    atMs: Date.parse(timestamp),
    isBad: BAD.has(tipo),
    lane: lane ?? undefined,
  }))
}
