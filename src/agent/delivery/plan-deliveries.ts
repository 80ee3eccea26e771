// What one round does about the deliveries: decided from the manifest, the records and the disk, before anything is done.

import {
  type ArtefactName,
  type DeliveryId,
  parseArtefactName,
} from '../../protocol/identifiers.ts'
import { artefactFiles, findSharedFile } from '../../protocol/artefact-files.ts'
import { parseFileMode } from '../../protocol/file-mode.ts'
import {
  isRenewalDue,
  type Lifetime,
  type NewCertificates,
} from '../identity/certificate-lifetime.ts'
import type { ManifestEntry } from '../hub/wire.ts'
import { artefactKey, type DeliveryKind } from './delivery-kind.ts'
import { findKind, type InstalledArtefacts } from './delivery-kinds.ts'
import type { ProcessedDelivery } from './processed-store.ts'

export interface RoundState {
  readonly entries: readonly ManifestEntry[]
  readonly records: readonly ProcessedDelivery[]
  /** What is in `out/`. */
  readonly installed: InstalledArtefacts
  /** Deliveries whose failure waits to be reported: the hub lists them until it has heard. */
  readonly failuresWaiting: ReadonlySet<string>
  /** By the hub's clock. */
  readonly now: Date
  readonly newCertificates: Pick<NewCertificates, 'isNew'>
  readonly renewalThresholdMs: number
}

export interface Installation {
  readonly entry: ManifestEntry
  readonly kind: DeliveryKind
  readonly name: ArtefactName
  /** As the hub gave it; undefined when it gave none. */
  readonly mode: number | undefined
  /** It is in place already: a crash came between the switch and the record. */
  readonly isInPlace: boolean
}

export interface DeliveryPlan {
  readonly installations: readonly Installation[]
  readonly failures: readonly { readonly entry: ManifestEntry; readonly reason: string }[]
  readonly unknownKinds: readonly ManifestEntry[]
  /** Of pairs; by the trigger `delivery` also of files that are gone. */
  readonly renewals: readonly {
    readonly record: ProcessedDelivery
    readonly name: ArtefactName
    readonly trigger: 'auto_threshold' | 'delivery'
  }[]
  /** Records of what a newer delivery has replaced. */
  readonly obsolete: readonly DeliveryId[]
}

export function planDeliveries(state: RoundState): DeliveryPlan {
  const wanted = state.entries.filter(
    (entry) => !isProcessed(entry, state) && !state.failuresWaiting.has(entry.deliveryId),
  )
  const unknownKinds = wanted.filter(({ kind }) => findKind(kind) === undefined)
  const installations: Installation[] = []
  const failures: { entry: ManifestEntry; reason: string }[] = []
  const taken: string[] = []
  for (const entry of newestOfEachCargo(wanted)) {
    const kind = findKind(entry.kind)
    if (kind === undefined) continue
    const name = parseArtefactName(entry.name)
    const mode = entry.mode === undefined ? undefined : parseFileMode(entry.mode)
    if (name === undefined) {
      failures.push({
        entry,
        reason: `the name cannot be a file name: ${JSON.stringify(entry.name)}`,
      })
    } else if (entry.mode !== undefined && mode === undefined) {
      failures.push({
        entry,
        reason: `the mode cannot be a file mode: ${JSON.stringify(entry.mode)}`,
      })
    } else if (findSharedFile(artefactFiles(kind.name, name), taken) !== undefined) {
      failures.push({ entry, reason: sameFileReason(name) })
    } else if (!isOlderThanInstalled(entry, state)) {
      if (hasListedRival(entry, kind, state)) {
        failures.push({ entry, reason: sameFileReason(name) })
        continue
      }
      taken.push(...artefactFiles(kind.name, name))
      installations.push({ entry, kind, name, mode, isInPlace: isInPlace(entry, state) })
    }
  }
  return { installations, failures, unknownKinds, ...planRenewals(state, taken) }
}

function sameFileReason(name: string): string {
  return `another delivery writes the same file: ${name}`
}

function isProcessed({ deliveryId, version }: ManifestEntry, { records }: RoundState): boolean {
  return records.some(
    (record) =>
      record.deliveryId === deliveryId &&
      record.version === version &&
      record.isFromBeforeRestore !== true,
  )
}

/** While a cargo is being updated both of its deliveries may be listed; only the newer one is worth installing. */
function newestOfEachCargo(entries: readonly ManifestEntry[]): ManifestEntry[] {
  return entries.filter(
    (entry) =>
      !entries.some(
        (other) =>
          other.cargoId === entry.cargoId &&
          other.name === entry.name &&
          other.version > entry.version,
      ),
  )
}

function isOlderThanInstalled(entry: ManifestEntry, { records }: RoundState): boolean {
  return records.some(
    (record) =>
      record.cargoId === entry.cargoId &&
      record.name === entry.name &&
      record.version > entry.version &&
      record.isFromBeforeRestore !== true,
  )
}

function isInPlace(entry: ManifestEntry, { installed, now }: RoundState): boolean {
  const artefact = installed.get(artefactKey(entry))
  return (
    artefact !== undefined &&
    artefact.record.delivery_id === entry.deliveryId &&
    artefact.record.version === entry.version &&
    // What was renewed since would be reported as renewed, and a hub that was restored waits for the installation.
    (artefact.record.renewal ?? null) === null &&
    (artefact.leaf === undefined || artefact.leaf.notAfter > now)
  )
}

/**
 * Whether another cargo's delivery that is live writes the same file. The hub lists no delivery whose file belongs to
 * another live delivery (DEL-13): an installed delivery that the hub no longer lists has ended.
 */
function hasListedRival(
  entry: ManifestEntry,
  kind: DeliveryKind,
  { records, entries }: RoundState,
): boolean {
  const files = artefactFiles(kind.name, entry.name)
  return records.some(
    (record) =>
      !record.cancelled &&
      (record.cargoId !== entry.cargoId || record.name !== entry.name) &&
      entries.some(({ deliveryId }) => deliveryId === record.deliveryId) &&
      findSharedFile(artefactFiles(record.kind, record.name), files) !== undefined,
  )
}

function planRenewals(
  { records, installed, entries, now, newCertificates, renewalThresholdMs }: RoundState,
  taken: readonly string[],
): Pick<DeliveryPlan, 'renewals' | 'obsolete'> {
  const isDue = (leaf: Lifetime): boolean =>
    isRenewalDue(leaf, now, renewalThresholdMs) && !newCertificates.isNew(leaf)
  const renewals: DeliveryPlan['renewals'][number][] = []
  const obsolete: DeliveryId[] = []
  for (const record of records) {
    const artefact = installed.get(artefactKey(record))
    const name = parseArtefactName(record.name)
    const isTaken = findSharedFile(artefactFiles(record.kind, record.name), taken) !== undefined
    if (artefact !== undefined && artefact.record.delivery_id !== record.deliveryId) {
      // Kept while the hub still lists it, or it would be installed over its successor.
      const isListed = entries.some(({ deliveryId }) => deliveryId === record.deliveryId)
      if (!isListed) obsolete.push(record.deliveryId)
    } else if (!record.cancelled && name !== undefined && !isTaken) {
      if (artefact === undefined) renewals.push({ record, name, trigger: 'delivery' })
      else if (artefact.leaf !== undefined && isDue(artefact.leaf)) {
        renewals.push({ record, name, trigger: 'auto_threshold' })
      }
    }
  }
  return { renewals, obsolete }
}
