// Which cargas of selectors a host is to get now, and what keeps others from it. Pure. docs/protocol.md LBL-18 to LBL-21.

import { matchesSelector, type SelectableHost, type Selector } from '../../protocol/selector.ts'
import { DeliveryKind } from '../../protocol/words.ts'
import { type Cargo, sharedFileOf } from './cargo.ts'
import type { Delivery } from './delivery.ts'
import { findForbiddenNames, type NameRules } from './host-rules.ts'

/** A carga that belongs to a selector. */
export interface SelectedCargo {
  readonly cargo: Cargo
  readonly selector: Selector
}

export interface SelectedHost extends SelectableHost {
  /** What it has, or is about to have. */
  readonly standing: readonly StandingDelivery[]
  readonly rules: NameRules
}

export interface StandingDelivery extends Delivery {
  readonly cargo: Cargo
}

export interface SelectedDeliveries {
  /** It has none of these yet. */
  readonly given: readonly Cargo[]
  /** Of a version before the one that the carga has now, and with other names. */
  readonly outdated: readonly { readonly old: Delivery; readonly cargo: Cargo }[]
}

/** What keeps a carga from a host that matches. */
export type WaitingReason =
  /** Somebody has to seal it for the host. */
  | { readonly code: 'not_sealed' }
  /** Another carga of the host writes one of its files. */
  | { readonly code: 'nome_taken'; readonly rival: Cargo }
  /** The politica of the host forbids one of its names. */
  | { readonly code: 'san_forbidden'; readonly san: string }

/** Oldest cargas first: of two that write the same file the host gets the older one. */
export function decideSelected(
  host: SelectedHost,
  cargoes: readonly SelectedCargo[],
): SelectedDeliveries {
  const standing = new Map(host.standing.map((delivery) => [delivery.cargoId, delivery]))
  const had = host.standing.map(({ cargo }) => cargo)
  const given: Cargo[] = []
  const outdated: { old: Delivery; cargo: Cargo }[] = []
  for (const { cargo, selector } of cargoes) {
    const old = standing.get(cargo.id)
    if (old !== undefined) {
      if (isOutdated(old, cargo)) outdated.push({ old, cargo })
      continue
    }
    if (!matchesSelector(selector, host)) continue
    if (findWaitingReason(cargo, host, had) !== undefined) continue
    given.push(cargo)
    had.push(cargo)
  }
  return { given, outdated }
}

/** By its names: the same certificate once more is of no use. The next sealed file is for those that it was sealed for. */
function isOutdated({ version, sans }: Delivery, cargo: Cargo): boolean {
  if (cargo.kind !== DeliveryKind.csrCert || version >= cargo.version) return false
  return sans.toSorted().join() !== cargo.sans.toSorted().join()
}

/** What keeps a carga from a host that matches and has these; undefined when nothing does. */
export function findWaitingReason(
  cargo: Cargo,
  { hostname, rules }: Pick<SelectedHost, 'hostname' | 'rules'>,
  had: readonly Cargo[],
): WaitingReason | undefined {
  const rival = had.find((other) => sharedFileOf(other, cargo) !== undefined)
  if (rival !== undefined) return { code: 'nome_taken', rival }
  const [forbidden] = findForbiddenNames(rules, hostname, cargo.sans)
  if (forbidden !== undefined) return { code: 'san_forbidden', san: forbidden.san }
  return cargo.kind === DeliveryKind.sealed ? { code: 'not_sealed' } : undefined
}
