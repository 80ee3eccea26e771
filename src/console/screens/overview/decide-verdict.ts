// The one sentence that the first screen begins with: what is wrong, the worst first, or that nothing is.

import type { AdminFleetSummary } from '../../../protocol/admin/fleet-summary.ts'

export type Verdict =
  /** No host has enrolled yet. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'hub_not_ready'; readonly subsystems: readonly string[] }
  /** Nothing new is signed; `endsAt` is when the first certificate of a host that renews ends. */
  | { readonly kind: 'ca_not_ready'; readonly endsAt: string | undefined }
  /** `endsAt` is of the first late certificate that still works. */
  | {
      readonly kind: 'late'
      readonly late: number
      readonly expired: number
      readonly endsAt: string | undefined
    }
  | { readonly kind: 'well' }

export function decideVerdict(summary: AdminFleetSummary): Verdict {
  const { hub, agentes, atrasados, expirados, survival_on_time: survival } = summary
  const broken = (hub?.subsystems ?? []).filter(({ ready }) => !ready).map(({ name }) => name)
  const others = broken.filter((name) => name !== 'ca')
  if (others.length > 0) return { kind: 'hub_not_ready', subsystems: others }
  if (agentes.registered + agentes.atrasado === 0) return { kind: 'empty' }
  if (broken.length > 0) return { kind: 'ca_not_ready', endsAt: survival?.first.not_after }
  if (atrasados.total + expirados.total > 0) {
    return {
      kind: 'late',
      late: atrasados.total,
      expired: expirados.total,
      endsAt: atrasados.first[0]?.not_after,
    }
  }
  return { kind: 'well' }
}
