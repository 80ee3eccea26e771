// What a delivery leaves in `out/`, whatever its kind: a pair or a file.

import type { ArtefactName } from '../../protocol/identifiers.ts'
import { DeliveryKind } from '../../protocol/words.ts'
import type { KnownFiles } from '../files/known-files.ts'
import type { VersionedLayout } from '../files/versioned-files.ts'
import { fileLayout, type InstalledFile, readInstalledFile } from './installed-file.ts'
import { type InstalledPair, pairLayout, readInstalledPair } from './installed-pair.ts'

const ARTEFACT_KINDS = [DeliveryKind.csrCert, DeliveryKind.sealed, DeliveryKind.push] as const
/** The kinds that this agent installs. */
export type ArtefactKind = (typeof ARTEFACT_KINDS)[number]

export type InstalledArtefact = InstalledPair | InstalledFile

/** By `artefactKey`. */
export type InstalledArtefacts = ReadonlyMap<string, InstalledArtefact>

export function parseArtefactKind(kind: string): ArtefactKind | undefined {
  return ARTEFACT_KINDS.find((known) => known === kind)
}

/** A pair and a file of one name are two artefacts. */
export function artefactKey({
  kind,
  name,
}: {
  readonly kind: string
  readonly name: string
}): string {
  return `${kind} ${name}`
}

/** Undefined when there is none, or none that could be used. */
export function readInstalled(
  outDir: string,
  kind: ArtefactKind,
  name: ArtefactName,
  knownPairs?: KnownFiles<InstalledPair>,
): Promise<InstalledArtefact | undefined> {
  return kind === DeliveryKind.csrCert
    ? readInstalledPair(outDir, name, knownPairs)
    : readInstalledFile(outDir, name)
}

export function artefactLayout(
  outDir: string,
  kind: ArtefactKind,
  name: ArtefactName,
): VersionedLayout {
  return kind === DeliveryKind.csrCert ? pairLayout(outDir, name) : fileLayout(outDir, name)
}

/** What tells an installed version from every other one: a serial, or the SHA-256 of what the hub handed out. */
export function markOf(installed: InstalledArtefact): string {
  return installed.leaf === undefined ? installed.record.sha256 : installed.leaf.serial
}
