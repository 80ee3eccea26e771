// The kinds of delivery that this agent installs.

import type { DeliveryKind as KindName } from '../../protocol/words.ts'
import type { DeliveryKind, InstalledArtefact } from './delivery-kind.ts'
import { pairKind } from './pair-kind.ts'
import { pushKind } from './push-kind.ts'
import { sealedKind } from './sealed-kind.ts'

/** By `artefactKey`. */
export type InstalledArtefacts = ReadonlyMap<string, InstalledArtefact>

export const DELIVERY_KINDS: Readonly<Record<KindName, DeliveryKind>> = {
  csr_cert: pairKind,
  selado: sealedKind,
  push: pushKind,
}

/** Undefined for one that a newer hub may list. */
export function findKind(name: string): DeliveryKind | undefined {
  return Object.values(DELIVERY_KINDS).find((kind) => kind.name === name)
}
