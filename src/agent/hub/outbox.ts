// Events wait here, one file each, until the hub has answered. The name starts with a number that gives the order and
// ends with the `request_id`, by which the hub knows an event that it has already recorded.

import { mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Check } from 'typebox/value'
import { describeError, errnoCode, invariant, SvcError } from '../../platform/errors.ts'
import {
  readTextIfPresent,
  removeIfPresent,
  replaceFile,
  syncDirectory,
} from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import { EventRequestBody } from '../../protocol/schemas.ts'
import { describeRefusal, isEventRefusedForGood, meaningOfRefusal } from './failures.ts'
import type { HubBudget } from './budget.ts'
import type { HubClient } from './client.ts'
import { type HubRefusal, HubUnreachableError } from './request.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import { parseJson } from '../../platform/parse-json.ts'
import { removeStagedFiles } from '../files/file-operations.ts'
import { type AgentEvent, encodeEvent, type EventReceipt } from './wire.ts'

/** Why events are still waiting after a flush; an error that is no HubUnreachableError is the disk's. */
export type FlushResult = 'empty' | Error | HubRefusal

/** Nothing is known of one that could not be read yet. */
export interface WaitingEvent {
  readonly type: string | undefined
  readonly deliveryId: string | undefined
  readonly payload?: object | undefined
}

/** An event that the hub has recorded, and what it answered. */
export interface RecordedEvent {
  readonly type: string
  readonly deliveryId: string | null
  readonly requestId: string | null
  readonly receipt: EventReceipt
}

export interface Outbox {
  /** Durable when it resolves; an event whose `requestId` is waiting already is not added again. */
  enqueue(event: AgentEvent, requestId?: string): Promise<void>
  /** Sends what waits, oldest first, until the hub cannot take one now. */
  flush(hub: Pick<HubClient, 'sendEvent'>): Promise<FlushResult>
  listWaiting(): readonly WaitingEvent[]
}

interface QueuedEvent {
  readonly fileName: string
  /** Undefined until it could be read. */
  readonly body: EventRequestBody | undefined
}

const FILE_NAME = /^\d{12}-[0-9a-f-]{36}\.json$/
const FILE_BYTES_MAX = 256 * 1024
const REFUSED_DIR = 'refused'
const REFUSED_COUNT_MAX = 100

/**
 * Reads what waits. A damaged file is set aside, since it would hold up the files behind it for ever; one that the disk
 * does not give us now (EIO, EMFILE, EACCES) keeps its place, and is read again when it is its turn.
 */
export async function openOutbox(
  directory: string,
  log: Logger,
  noteRecorded?: NoteRecorded,
): Promise<Outbox> {
  await mkdir(join(directory, REFUSED_DIR), { recursive: true, mode: 0o700 })
  const outbox = new FileOutbox(directory, log, noteRecorded)
  await outbox.load()
  return outbox
}

/** Told of each event before it is forgotten; again after a crash in between. */
type NoteRecorded = (event: RecordedEvent) => Promise<void>

class FileOutbox implements Outbox {
  readonly #directory: string
  readonly #log: Logger
  readonly #noteRecorded: NoteRecorded | undefined
  readonly #queue: QueuedEvent[] = []
  readonly #turns = createSerialQueue()
  #lastNumber = 0

  constructor(directory: string, log: Logger, noteRecorded: NoteRecorded | undefined) {
    this.#directory = directory
    this.#log = log
    this.#noteRecorded = noteRecorded
  }

  async load(): Promise<void> {
    await removeStagedFiles(this.#directory)
    for (const fileName of await listEventFiles(this.#directory)) {
      this.#lastNumber = Number(fileName.slice(0, 12))
      const body = await this.#read(fileName)
      if (body instanceof Error) {
        this.#log.warn({ file: fileName, reason: describeError(body) }, 'Event cannot be read yet')
        this.#queue.push({ fileName, body: undefined })
      } else if (body !== undefined) this.#queue.push({ fileName, body })
    }
  }

  enqueue(event: AgentEvent, requestId: string = timeOrderedUuid()): Promise<void> {
    return this.#turns.run(async () => {
      if (this.#queue.some(({ fileName }) => fileName.endsWith(`-${requestId}.json`))) return
      const number = this.#lastNumber + 1
      const fileName = `${String(number).padStart(12, '0')}-${requestId}.json`
      invariant(FILE_NAME.test(fileName), 'by another name a restart would not find the event')
      const body = encodeEvent(event, requestId)
      await replaceFile(join(this.#directory, fileName), `${JSON.stringify(body)}\n`, 0o600)
      this.#lastNumber = number
      this.#queue.push({ fileName, body })
    })
  }

  flush(hub: Pick<HubClient, 'sendEvent'>): Promise<FlushResult> {
    return this.#turns.run(async () => {
      for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
        const obstacle = await this.#send(hub, next)
        if (obstacle !== undefined) return obstacle
        this.#queue.shift()
      }
      return 'empty'
    })
  }

  listWaiting(): readonly WaitingEvent[] {
    return this.#queue.map(({ body }) => ({
      type: body?.tipo_evento,
      deliveryId: body?.entrega_id,
      payload: body?.payload,
    }))
  }

  async #send(
    hub: Pick<HubClient, 'sendEvent'>,
    { fileName, body: known }: QueuedEvent,
  ): Promise<Error | HubRefusal | undefined> {
    const body = known ?? (await this.#read(fileName))
    if (body === undefined || body instanceof Error) return body
    const outcome = await hub.sendEvent(body).catch((error: unknown) => {
      if (error instanceof HubUnreachableError) return error
      throw error
    })
    if (outcome instanceof HubUnreachableError) return outcome
    if (!outcome.ok && !isEventRefusedForGood(outcome)) return outcome
    if (outcome.ok) {
      this.#log.debug({ event: body.tipo_evento, request_id: body.request_id }, 'Event recorded')
      await this.#noteRecorded?.({
        type: body.tipo_evento,
        deliveryId: body.entrega_id ?? null,
        requestId: body.request_id ?? null,
        receipt: outcome.value,
      })
      // Not fsynced: were the removal lost, the hub would answer the same for the same request_id.
      await removeIfPresent(join(this.#directory, fileName))
    } else {
      // A delivery that was cancelled or replaced meanwhile is not a failure.
      const level = meaningOfRefusal(outcome) === 'cancelled' ? 'info' : 'warn'
      await this.#setAside(fileName, describeRefusal(outcome), { event: body.tipo_evento, level })
    }
    return undefined
  }

  /** The error when it cannot be read now; undefined when it never can be, and is out of the way. */
  async #read(fileName: string): Promise<EventRequestBody | Error | undefined> {
    try {
      const text = await readTextIfPresent(join(this.#directory, fileName), FILE_BYTES_MAX)
      if (text === undefined) return undefined
      const body = parseJson(text)
      if (Check(EventRequestBody, body)) return body
    } catch (error) {
      // A file over the limit is not ours; any other failure is the disk's.
      if (error instanceof Error && !(error instanceof SvcError)) return error
    }
    await this.#setAside(fileName, 'it is damaged')
    return undefined
  }

  async #setAside(
    fileName: string,
    reason: string,
    { event, level }: { event?: string; level: 'info' | 'warn' } = { level: 'warn' },
  ): Promise<void> {
    this.#log[level]({ file: fileName, event, reason }, 'Event set aside')
    const refusedDir = join(this.#directory, REFUSED_DIR)
    await rename(join(this.#directory, fileName), join(refusedDir, fileName)).catch((error) => {
      // It was moved before, and the disk failed at what comes after.
      if (errnoCode(error) !== 'ENOENT') throw error
    })
    await syncDirectory(refusedDir)
    const names = (await readdir(refusedDir)).sort()
    for (const name of names.slice(0, -REFUSED_COUNT_MAX)) {
      await removeIfPresent(join(refusedDir, name))
    }
  }
}

/** Sends what waits, as far as the round's hub lets it. */
export async function flushOutbox(
  context: { readonly outbox: Outbox; readonly hub: Pick<HubClient, 'sendEvent'> },
  budget: HubBudget,
): Promise<void> {
  if (!budget.isOpen) return
  const result = await context.outbox.flush(context.hub)
  if (result === 'empty') return
  if (result instanceof Error) budget.noteError(result)
  else budget.noteRefusal(result)
}

/** In their order; none when there is no outbox yet. Reads only, so a running agent may be at work meanwhile. */
export async function listEventFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (errnoCode(error) === 'ENOENT') return []
    throw error
  })
  return names.filter((name) => FILE_NAME.test(name)).sort()
}
