// What has been installed for which delivery, and how far its event and hook have come: certificates in
// state/processed.json, sealed files in state/delivered-files.json, pushed ones in state/pushed-files.json. A document
// a kind, because an earlier agent, should it come back, has to understand the kinds that it knows.

import { basename, dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, invariant, UserError } from '../../platform/errors.ts'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import type { CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import type { DeliveryKind as KindName } from '../../protocol/words.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import { removeStagedFiles } from '../files/file-operations.ts'
import type { DeliveryKind } from './delivery-kind.ts'
import { DELIVERY_KINDS } from './delivery-kinds.ts'

/** The steps of an installed version, in their order. */
export type DeliveryProgress = 'installed' | 'event_queued' | 'done'

export interface ProcessedDelivery {
  readonly deliveryId: DeliveryId
  readonly cargoId: CargoId
  readonly kind: KindName
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
  /** The hub no longer knows the delivery: its files stay, and the agent no longer renews them. */
  readonly cancelled: boolean
  /** The hub was restored since: it may know an earlier version, or wait for the event again. docs/protocol.md BKP-20. */
  readonly isFromBeforeRestore?: true
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
  /** All that there is now is from before a restore of the hub. */
  noteRestore(): Promise<void>
}

export interface ProcessedPaths {
  readonly processedFile: string
  readonly deliveredFilesFile: string
  readonly pushedFilesFile: string
}

type Deliveries = ReadonlyMap<DeliveryId, ProcessedDelivery>

/** What an entry has, whatever its kind. */
const Entry = Type.Object({
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
  before_restore: Type.Optional(Type.Literal(true)),
})
type Entry = Static<typeof Entry>

const Document = Type.Object({
  format: Type.Literal(1),
  deliveries: Type.Record(Type.String(), Entry),
})

const KINDS = Object.values(DELIVERY_KINDS)
const FILE_BYTES_MAX = 64 * 1024 * 1024

/** Throws a UserError when a file is there but cannot be understood; it is then left alone. */
export async function openProcessedStore(paths: ProcessedPaths): Promise<ProcessedStore> {
  for (const directory of new Set(KINDS.map(({ records }) => dirname(paths[records.file])))) {
    await removeStagedFiles(directory)
  }
  const documents = new Map<KindName, RecordsDocument>()
  for (const kind of KINDS) documents.set(kind.name, await openDocument(paths, kind))
  const all = [...documents.values()]
  // Rounds and hooks both write; each change is made to what the one before it left.
  const turns = createSerialQueue()

  const find = (id: DeliveryId): ProcessedDelivery | undefined =>
    all.map((document) => document.deliveries().get(id)).find((found) => found !== undefined)

  async function put(delivery: ProcessedDelivery): Promise<void> {
    const document = documents.get(delivery.kind)
    invariant(document !== undefined, 'each kind has its document')
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
    noteRestore: () =>
      turns.run(async () => {
        for (const document of all) {
          const marked = [...document.deliveries()].map(
            ([id, delivery]) => [id, { ...delivery, isFromBeforeRestore: true }] as const,
          )
          if (marked.length > 0) await document.save(new Map(marked))
        }
      }),
  }
}

/** Reads as openProcessedStore does; a running agent may be at work meanwhile. */
export async function readDeliveries(paths: ProcessedPaths): Promise<ProcessedDelivery[]> {
  const all: ProcessedDelivery[] = []
  for (const kind of KINDS) all.push(...(await readDocument(paths, kind)).values())
  return all
}

interface RecordsDocument {
  deliveries(): Deliveries
  save(changed: Deliveries): Promise<void>
}

async function openDocument(paths: ProcessedPaths, kind: DeliveryKind): Promise<RecordsDocument> {
  let deliveries = await readDocument(paths, kind)
  return {
    deliveries: () => deliveries,
    async save(changed) {
      await replaceFile(paths[kind.records.file], encode(changed, kind), 0o600)
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

async function readDocument(paths: ProcessedPaths, kind: DeliveryKind): Promise<Deliveries> {
  const path = paths[kind.records.file]
  const document = await readJson(path)
  if (document === undefined) return new Map()
  if (!Check(Document, document)) throw damaged(path, FORM)
  const deliveries = Object.entries(document.deliveries).map(([id, entry]): ProcessedDelivery => {
    const own = kind.records.decode(entry)
    if (own === undefined) throw damaged(path, FORM)
    return {
      // Written by us from parsed ids.
      deliveryId: id as DeliveryId,
      cargoId: entry.cargo_id as CargoId,
      kind: kind.name,
      name: entry.name,
      version: entry.version,
      ...own,
      progress: entry.progress,
      hookEvent: entry.hook_event,
      reportedHookFailure: entry.reported_hook_failure,
      cancelled: entry.cancelled,
      ...(entry.before_restore === true && { isFromBeforeRestore: true }),
    }
  })
  return new Map(deliveries.map((delivery) => [delivery.deliveryId, delivery]))
}

function encode(deliveries: Deliveries, { records }: DeliveryKind): string {
  const entries = [...deliveries.values()].map((delivery): [string, Entry] => [
    delivery.deliveryId,
    {
      cargo_id: delivery.cargoId,
      name: delivery.name,
      version: delivery.version,
      progress: delivery.progress,
      hook_event: delivery.hookEvent,
      reported_hook_failure: delivery.reportedHookFailure,
      cancelled: delivery.cancelled,
      ...(delivery.isFromBeforeRestore === true && { before_restore: true }),
      ...records.encode(delivery),
    },
  ])
  const document = { format: 1, deliveries: Object.fromEntries(entries) }
  return `${JSON.stringify(document, undefined, 2)}\n`
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
    hint: `move ${basename(path)} away: the out directory stays as it is, and the agent starts again from what the hub lists`,
  })
}
