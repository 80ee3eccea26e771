// What is particular to one kind (tipo) of delivery; everything else is done to all of them alike.

import type { Certificate } from '../../pki/certificates.ts'
import type { KeyType } from '../../pki/keys.ts'
import type { ArtefactName, CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import type { DeliveryKind as KindName } from '../../protocol/words.ts'
import type { KnownFiles } from '../files/known-files.ts'
import type { VersionedLayout } from '../files/versioned-files.ts'
import type { HubClient } from '../hub/client.ts'
import type { HubRefusal } from '../hub/request.ts'
import type { HubTime } from '../hub/time.ts'
import type { AgentEvent } from '../hub/wire.ts'
import type { NewCertificates } from '../identity/certificate-lifetime.ts'
import type { Identity } from '../identity/identity.ts'
import type { PairRecord } from './installed-pair.ts'
import type { ProcessedDelivery, ProcessedPaths } from './processed-store.ts'

export interface DeliveryKind<Installed extends InstalledArtefact = InstalledArtefact> {
  readonly name: KindName
  /** Its content comes from the hub as it is: certificates do not wait for it, and it is not renewed. */
  readonly isFile: boolean
  layout(outDir: string, name: ArtefactName): VersionedLayout
  /** Undefined when there is no such delivery on disk, or no usable one: then the agent obtains it again. */
  read(
    outDir: string,
    name: ArtefactName,
    known?: KnownFiles<Installed>,
  ): Promise<Installed | undefined>
  /** What tells an installed version from every other one. */
  markOf(installed: Installed): string
  /**
   * Asks the hub, and switches to what it gives; the hub's refusal if it refuses. Throws HubUnreachableError,
   * WrongCertificateError, UnusableFileError, ForeignFileError, or a system error of the file system.
   */
  obtain(
    context: ObtainContext,
    identity: Identity,
    request: ObtainRequest,
  ): Promise<HubRefusal | undefined>
  /** What the hub is told of an installed version. */
  eventOf(place: OwnPlace, deliveryId: DeliveryId, installed: Installed): AgentEvent
  hookOf(place: OwnPlace & { readonly caPath: string }, installed: Installed): HookPart
  /** A document of its own in the state directory: an earlier agent reads the documents of the kinds that it knows. */
  readonly records: {
    readonly file: keyof ProcessedPaths
    /** Of an entry, which has more than this; undefined when it is not in order. */
    decode(entry: unknown): OwnRecord | undefined
    encode(own: OwnRecord): Readonly<Record<string, unknown>>
  }
}

/** What a delivery left in `out/`. */
export interface InstalledArtefact {
  /** Staged with it: after a crash the disk alone says what was installed, and which event reports it. */
  readonly record: {
    readonly delivery_id: string
    readonly version: number
    readonly request_id: string
    /** Of a pair: how it came after the one that was installed; null for that one. */
    readonly renewal?: PairRecord['renewal']
  }
  /** A file has no certificate. */
  readonly leaf?: Certificate | undefined
}

export interface ObtainContext {
  readonly outDir: string
  readonly ageKeyFile: string
  readonly hub: Pick<HubClient, 'issueCertificate' | 'fetchBlob'>
  readonly hubTime: HubTime
  readonly newCertificates: NewCertificates
  /** The type that the host's targets ask for. */
  readonly keyTypeOf: (name: ArtefactName) => Promise<KeyType>
}

export interface ObtainRequest {
  readonly deliveryId: DeliveryId
  readonly cargoId: CargoId
  readonly name: ArtefactName
  readonly version: number
  /** As the hub gave it; undefined when it gave none. */
  readonly mode: number | undefined
  /** Of a pair: the names for its CSR, as the hub gave them; a renewal has those of the pair that is installed. */
  readonly sans?: readonly string[] | undefined
  /** Null for what is installed for the first time. */
  readonly renewal: PairRecord['renewal']
}

/** Where a delivery of this name is. */
export interface OwnPlace {
  readonly outDir: string
  readonly name: ArtefactName
}

/** What a hook learns of an installed version besides what every hook does. */
export interface HookPart {
  readonly hookName: 'post-csr-cert' | 'post-selado' | 'post-push'
  /** Its arguments after the name. */
  readonly paths: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

export type OwnRecord = Pick<ProcessedDelivery, 'mark' | 'mode'>

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
