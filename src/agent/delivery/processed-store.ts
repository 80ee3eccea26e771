// state/processed.json: what has been installed for which delivery, and how far its event and hook have come.

import { basename, dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, UserError } from '../../platform/errors.ts'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import type { CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import { createSerialQueue } from '../serial-queue.ts'
import { removeStagedFiles } from '../staged-files.ts'

/** The steps of an installed version, in their order. */
export type DeliveryProgress = 'installed' | 'event_queued' | 'done'

export interface ProcessedDelivery {
  readonly deliveryId: DeliveryId
  readonly cargoId: CargoId
  readonly name: string
  readonly version: number
  /** Of the installed certificate. */
  readonly serial: string
  readonly progress: DeliveryProgress
  /** What the hook is told. */
  readonly hookEvent: 'installed' | 'renewed'
  /** The last failure of the hook that was reported, so that the same one is not reported at every retry. */
  readonly reportedHookFailure: string | null
  /** The hub knows the delivery no more: its files stay, and are renewed no more. */
  readonly cancelled: boolean
}

export interface ProcessedStore {
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

const Entry = Type.Object({
  cargo_id: Type.String(),
  name: Type.String(),
  version: Type.Integer(),
  serial: Type.String(),
  progress: Type.Union([
    Type.Literal('installed'),
    Type.Literal('event_queued'),
    Type.Literal('done'),
  ]),
  hook_event: Type.Union([Type.Literal('installed'), Type.Literal('renewed')]),
  reported_hook_failure: Type.Union([Type.String(), Type.Null()]),
  cancelled: Type.Boolean(),
})
const Document = Type.Object({
  format: Type.Literal(1),
  deliveries: Type.Record(Type.String(), Entry),
})
type Document = Static<typeof Document>

const FILE_BYTES_MAX = 64 * 1024 * 1024

/** Throws a UserError when the file is there but cannot be understood; it is then left alone. */
export async function openProcessedStore(path: string): Promise<ProcessedStore> {
  await removeStagedFiles(dirname(path))
  let deliveries = await readDeliveries(path)
  // Rounds and hooks both write; each change is made to what the one before it left.
  const turns = createSerialQueue()

  async function save(changed: Map<DeliveryId, ProcessedDelivery>): Promise<void> {
    await replaceFile(path, encode(changed), 0o600)
    // Memory follows the disk, never the other way round.
    deliveries = changed
  }

  return {
    list: () => [...deliveries.values()],
    find: (id) => deliveries.get(id),
    put: (delivery) =>
      turns.run(() => save(new Map(deliveries).set(delivery.deliveryId, delivery))),
    update: (id, change) =>
      turns.run(async () => {
        const current = deliveries.get(id)
        const changed = current && change(current)
        if (changed !== undefined) await save(new Map(deliveries).set(id, changed))
      }),
    remove: (ids) =>
      turns.run(async () => {
        if (!ids.some((id) => deliveries.has(id))) return
        const rest = new Map(deliveries)
        for (const id of ids) rest.delete(id)
        await save(rest)
      }),
  }
}

/** As openProcessedStore does, beside whoever else is at work. */
export async function readDeliveries(path: string): Promise<Map<DeliveryId, ProcessedDelivery>> {
  const text = await readTextIfPresent(path, FILE_BYTES_MAX)
  if (text === undefined) return new Map()
  return new Map(decode(path, text).map((delivery) => [delivery.deliveryId, delivery]))
}

function decode(path: string, text: string): ProcessedDelivery[] {
  const document = parseJson(path, text)
  if (!Check(Document, document)) throw damaged(path, 'it does not have the form of this version')
  return Object.entries(document.deliveries).map(([id, entry]) => ({
    // Written by us from parsed ids.
    deliveryId: id as DeliveryId,
    cargoId: entry.cargo_id as CargoId,
    name: entry.name,
    version: entry.version,
    serial: entry.serial,
    progress: entry.progress,
    hookEvent: entry.hook_event,
    reportedHookFailure: entry.reported_hook_failure,
    cancelled: entry.cancelled,
  }))
}

function encode(deliveries: ReadonlyMap<DeliveryId, ProcessedDelivery>): string {
  const document: Document = {
    format: 1,
    deliveries: Object.fromEntries(
      [...deliveries.values()].map((delivery) => [
        delivery.deliveryId,
        {
          cargo_id: delivery.cargoId,
          name: delivery.name,
          version: delivery.version,
          serial: delivery.serial,
          progress: delivery.progress,
          hook_event: delivery.hookEvent,
          reported_hook_failure: delivery.reportedHookFailure,
          cancelled: delivery.cancelled,
        },
      ]),
    ),
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw damaged(path, describeError(error))
  }
}

function damaged(path: string, why: string): UserError {
  return new UserError('processed_damaged', `${path} is damaged: ${why}`, {
    hint: `move ${basename(path)} away: what is in the out directory stays, and what the hub still lists is taken up from there`,
  })
}
