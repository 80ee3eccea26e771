// What needs somebody, the most urgent first: one line for one cause, however many hosts it has.

import type { AdminFleetSummary, AdminUrgentHost } from '../../../protocol/admin/fleet-summary.ts'

type Failures = AdminFleetSummary['failures'][number]
type Rollout = AdminFleetSummary['rollouts'][number]
type Webhook = AdminFleetSummary['webhooks']['first'][number]

export type Attention =
  /** Late, and nothing was refused: the host, or the way to it. */
  | { readonly kind: 'silent'; readonly host: AdminUrgentHost }
  /** Late, and the hub refuses what they ask for, all for one reason. */
  | {
      readonly kind: 'refused'
      readonly hosts: readonly AdminUrgentHost[]
      readonly reason: string
      readonly endsAt: string
    }
  | { readonly kind: 'expired'; readonly host: AdminUrgentHost }
  | { readonly kind: 'failed'; readonly failures: Failures }
  | { readonly kind: 'frozen'; readonly rollout: Rollout }
  | {
      readonly kind: 'not_revoked'
      readonly count: number
      readonly reason: string | undefined
      readonly since: string | undefined
    }
  | { readonly kind: 'webhook'; readonly webhook: Webhook }
  | { readonly kind: 'refusals'; readonly count: number }

const SILENT_MAX = 5
const EXPIRED_MAX = 3

export function listAttention(summary: AdminFleetSummary): Attention[] {
  const {
    atrasados,
    expirados,
    failures,
    rollouts,
    webhooks,
    ca_revocations: revocations,
  } = summary
  const groups = groupByReason(atrasados.first)
  const silent = atrasados.first.filter(({ waiting_reason: reason }) => reason === null)
  return [
    ...[
      ...silent.slice(0, SILENT_MAX).map((host) => ({ kind: 'silent', host }) as const),
      ...groups,
    ].sort((a, b) => endOf(a) - endOf(b)),
    ...failures
      // What waits is told of its late hosts already.
      .filter(
        ({ reason, status }) => status === 'falhou' || !groups.some((one) => one.reason === reason),
      )
      .map((failed) => ({ kind: 'failed', failures: failed }) as const),
    ...expirados.first.slice(0, EXPIRED_MAX).map((host) => ({ kind: 'expired', host }) as const),
    ...rollouts
      .filter(({ state }) => state === 'frozen')
      .map((rollout) => ({ kind: 'frozen', rollout }) as const),
    ...(revocations.refused > 0
      ? [
          {
            kind: 'not_revoked',
            count: revocations.refused,
            reason: revocations.reason ?? undefined,
            since: revocations.oldest_at ?? undefined,
          } as const,
        ]
      : []),
    ...webhooks.first.map((webhook) => ({ kind: 'webhook', webhook }) as const),
    ...(summary.admin_refused > 0
      ? [{ kind: 'refusals', count: summary.admin_refused } as const]
      : []),
  ]
}

type Refused = Extract<Attention, { readonly kind: 'refused' }>

function groupByReason(hosts: readonly AdminUrgentHost[]): Refused[] {
  const groups = new Map<string, AdminUrgentHost[]>()
  for (const host of hosts) {
    if (host.waiting_reason === null) continue
    const known = groups.get(host.waiting_reason)
    if (known === undefined) groups.set(host.waiting_reason, [host])
    else known.push(host)
  }
  return [...groups].map(([reason, group]) => ({
    kind: 'refused',
    reason,
    hosts: group,
    // The hub lists the first to end first.
    endsAt: group[0]?.not_after ?? '',
  }))
}

function endOf(
  attention: Refused | { readonly kind: 'silent'; readonly host: AdminUrgentHost },
): number {
  return Date.parse(attention.kind === 'silent' ? attention.host.not_after : attention.endsAt)
}
