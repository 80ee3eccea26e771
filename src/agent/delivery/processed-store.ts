// What has been installed for which delivery, and how far its event and hook have come: certificates in
// state/processed.json, sealed files in state/delivered-files.json, pushed ones in state/pushed-files.json. A document
// a kind, because an earlier agent has to understand those that it knows, should it come back.

import { basename, dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, UserError } from '../../platform/errors.ts'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import { FILE_MODE_DEFAULT } from '../../protocol/file-mode.ts'
import type { CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import { DeliveryKind } from '../../protocol/words.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import { removeStagedFiles } from '../files/file-operations.ts'
import type { ArtefactKind } from './installed-artefact.ts'

/** The steps of an installed version, in their order. */
export type DeliveryProgress = 'installed' | 'event_queued' | 'done'

export interface ProcessedDelivery {
  readonly deliveryId: DeliveryId
  readonly cargoId: CargoId
  readonly kind: ArtefactKind
  readonly name: string
  readonly version: number
  /** Of the installed version: the certificate's serial, or the SHA-256 of the file as the hub handed it out. */
  readonly mark: string
  /** Of a pushed file. */
  readonly mode?: number
  readonly progress: DeliveryProgress
  /** What the hook is told. */
  readonly hookEvent: 'installed' | 'renewed'
  /** The last failure of the hook that was reported, so that the same one is not reported at every retry. */
  readonly reportedHookFailure: string | null
  /** The hub knows the delivery no more: its files stay, and are renewed no more. */
  readonly cancelled: boolean
}

export interface ProcessedStore {
  /** Certificates first. */
  list(): readonly ProcessedDelivery[]
  find(id: DeliveryId): ProcessedDelivery | undefined
  /** Durable when it resolves. */
  put(delivery: ProcessedDelivery): Promise<void>
  /** Changes the record as it is by then; one that is gone meanwhile stays so. Undefined leaves it as it is. */
  update(
    id: DeliveryId,
    change: (current: ProcessedDelivery) => ProcessedDelivery | undefined,
  ): Promise<void>
  remove(ids: readonly DeliveryId[]): Promise<void>
}

export interface ProcessedPaths {
  readonly processedFile: string
  readonly deliveredFilesFile: string
  readonly pushedFilesFile: string
}

type Deliveries = ReadonlyMap<DeliveryId, ProcessedDelivery>

const COMMON = {
  cargo_id: Type.String(),
  name: Type.String(),
  version: Type.Integer(),
  progress: Type.Union([
    Type.Literal('installed'),
    Type.Literal('event_queued'),
    Type.Literal('done'),
  ]),
  hook_event: Type.Union([Type.Literal('installed'), Type.Literal('renewed')]),
  reported_hook_failure: Type.Union([Type.String(), Type.Null()]),
  cancelled: Type.Boolean(),
}
const PairEntry = Type.Object({ ...COMMON, serial: Type.String() })
const FileEntry = Type.Object({
  ...COMMON,
  kind: Type.Literal(DeliveryKind.sealed),
  sha256: Type.String(),
})
const PushEntry = Type.Object({
  ...COMMON,
  kind: Type.Literal(DeliveryKind.push),
  sha256: Type.String(),
  mode: Type.Integer({ minimum: 0, maximum: 0o777 }),
})
type Entry = Static<typeof PairEntry> | Static<typeof FileEntry> | Static<typeof PushEntry>

const PairDocument = Type.Object({
  format: Type.Literal(1),
  deliveries: Type.Record(Type.String(), PairEntry),
})
const FileDocument = Type.Object({
  format: Type.Literal(1),
  deliveries: Type.Record(Type.String(), FileEntry),
})

const PushDocument = Type.Object({
  format: Type.Literal(1),
  deliveries: Type.Record(Type.String(), PushEntry),
})

const FILE_BYTES_MAX = 64 * 1024 * 1024

/** Throws a UserError when a file is there but cannot be understood; it is then left alone. */
export async function openProcessedStore(paths: ProcessedPaths): Promise<ProcessedStore> {
  const documents = [paths.processedFile, paths.deliveredFilesFile, paths.pushedFilesFile]
  for (const directory of new Set(documents.map((path) => dirname(path)))) {
    await removeStagedFiles(directory)
  }
  const pairs = await openDocument(paths.processedFile, readPairs)
  const files = await openDocument(paths.deliveredFilesFile, readFiles)
  const pushes = await openDocument(paths.pushedFilesFile, readPushes)
  const all = [pairs, files, pushes]
  // Rounds and hooks both write; each change is made to what the one before it left.
  const turns = createSerialQueue()

  const documentOf = ({ kind }: ProcessedDelivery): RecordsDocument =>
    ({ csr_cert: pairs, selado: files, push: pushes })[kind]
  const find = (id: DeliveryId): ProcessedDelivery | undefined =>
    all.map((document) => document.deliveries().get(id)).find((found) => found !== undefined)

  async function put(delivery: ProcessedDelivery): Promise<void> {
    const document = documentOf(delivery)
    await document.save(new Map(document.deliveries()).set(delivery.deliveryId, delivery))
  }

  return {
    list: () => all.flatMap((document) => [...document.deliveries().values()]),
    find,
    put: (delivery) => turns.run(() => put(delivery)),
    update: (id, change) =>
      turns.run(async () => {
        const current = find(id)
        const changed = current && change(current)
        if (changed !== undefined) await put(changed)
      }),
    remove: (ids) =>
      turns.run(async () => {
        for (const document of all) await removeFrom(document, ids)
      }),
  }
}

/** As openProcessedStore does, beside whoever else is at work. */
export async function readDeliveries(paths: ProcessedPaths): Promise<ProcessedDelivery[]> {
  const pairs = await readPairs(paths.processedFile)
  const files = await readFiles(paths.deliveredFilesFile)
  const pushes = await readPushes(paths.pushedFilesFile)
  return [pairs, files, pushes].flatMap((deliveries) => [...deliveries.values()])
}

interface RecordsDocument {
  deliveries(): Deliveries
  save(changed: Deliveries): Promise<void>
}

async function openDocument(
  path: string,
  read: (path: string) => Promise<Deliveries>,
): Promise<RecordsDocument> {
  let deliveries = await read(path)
  return {
    deliveries: () => deliveries,
    async save(changed) {
      await replaceFile(path, encode(changed), 0o600)
      // Memory follows the disk, never the other way round.
      deliveries = changed
    },
  }
}

async function removeFrom(document: RecordsDocument, ids: readonly DeliveryId[]): Promise<void> {
  const rest = new Map(document.deliveries())
  for (const id of ids) rest.delete(id)
  if (rest.size < document.deliveries().size) await document.save(rest)
}

async function readPairs(path: string): Promise<Deliveries> {
  const document = await readJson(path)
  if (document === undefined) return new Map()
  if (!Check(PairDocument, document)) throw damaged(path, FORM)
  return decode(document.deliveries, ({ serial }) => ({
    kind: DeliveryKind.csrCert,
    mark: serial,
  }))
}

async function readFiles(path: string): Promise<Deliveries> {
  const document = await readJson(path)
  if (document === undefined) return new Map()
  if (!Check(FileDocument, document)) throw damaged(path, FORM)
  return decode(document.deliveries, ({ kind, sha256 }) => ({ kind, mark: sha256 }))
}

async function readPushes(path: string): Promise<Deliveries> {
  const document = await readJson(path)
  if (document === undefined) return new Map()
  if (!Check(PushDocument, document)) throw damaged(path, FORM)
  return decode(document.deliveries, ({ kind, sha256, mode }) => ({ kind, mark: sha256, mode }))
}

function decode<OneEntry extends Entry>(
  entries: Readonly<Record<string, OneEntry>>,
  ownPart: (entry: OneEntry) => Pick<ProcessedDelivery, 'kind' | 'mark' | 'mode'>,
): Deliveries {
  const deliveries = Object.entries(entries).map(([id, entry]): ProcessedDelivery => ({
    // Written by us from parsed ids.
    deliveryId: id as DeliveryId,
    cargoId: entry.cargo_id as CargoId,
    name: entry.name,
    version: entry.version,
    ...ownPart(entry),
    progress: entry.progress,
    hookEvent: entry.hook_event,
    reportedHookFailure: entry.reported_hook_failure,
    cancelled: entry.cancelled,
  }))
  return new Map(deliveries.map((delivery) => [delivery.deliveryId, delivery]))
}

function encode(deliveries: Deliveries): string {
  const entries = [...deliveries.values()].map((delivery): [string, Entry] => {
    return [delivery.deliveryId, encodeOne(delivery)]
  })
  const document = { format: 1, deliveries: Object.fromEntries(entries) }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

function encodeOne(delivery: ProcessedDelivery): Entry {
  const { kind, mark, mode = FILE_MODE_DEFAULT } = delivery
  const common = {
    cargo_id: delivery.cargoId,
    name: delivery.name,
    version: delivery.version,
    progress: delivery.progress,
    hook_event: delivery.hookEvent,
    reported_hook_failure: delivery.reportedHookFailure,
    cancelled: delivery.cancelled,
  }
  if (kind === DeliveryKind.csrCert) return { ...common, serial: mark }
  if (kind === DeliveryKind.sealed) return { ...common, kind, sha256: mark }
  return { ...common, kind, sha256: mark, mode }
}

async function readJson(path: string): Promise<unknown> {
  const text = await readTextIfPresent(path, FILE_BYTES_MAX)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw damaged(path, describeError(error))
  }
}

const FORM = 'it does not have the form of this version'

function damaged(path: string, why: string): UserError {
  return new UserError('processed_damaged', `${path} is damaged: ${why}`, {
    hint: `move ${basename(path)} away: what is in the out directory stays, and what the hub still lists is taken up from there`,
  })
}
