// Events wait here, one file each, until the hub has answered. The name starts with a number that gives the order and
// ends with the `request_id`, by which the hub knows an event that it has already recorded.

import { mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Check } from 'typebox/value'
import { describeError } from '../../platform/errors.ts'
import {
  readTextIfPresent,
  removeIfPresent,
  replaceFile,
  syncDirectory,
} from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import { EventRequestBody } from '../../protocol/schemas.ts'
import { describeRefusal, isEventRefusedForGood, meaningOfRefusal } from '../failures.ts'
import type { HubClient } from '../hub-client.ts'
import { type HubRefusal, HubUnreachableError } from '../hub-request.ts'
import { createSerialQueue } from '../serial-queue.ts'
import { removeStagedFiles } from '../staged-files.ts'
import { type AgentEvent, encodeEvent } from '../wire.ts'

/** Why events are still waiting after a flush. */
export type FlushResult = 'empty' | HubUnreachableError | HubRefusal

export interface WaitingEvent {
  readonly type: string
  readonly deliveryId: string | undefined
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
  readonly body: EventRequestBody
}

const FILE_NAME = /^\d{12}-[0-9a-f-]{36}\.json$/
const FILE_BYTES_MAX = 256 * 1024
const REFUSED_DIR = 'refused'
const REFUSED_COUNT_MAX = 100

/** Reads what waits; a file that cannot be read is set aside, since it would hold up those behind it for ever. */
export async function openOutbox(directory: string, log: Logger): Promise<Outbox> {
  await mkdir(join(directory, REFUSED_DIR), { recursive: true, mode: 0o700 })
  const outbox = new FileOutbox(directory, log)
  await outbox.load()
  return outbox
}

class FileOutbox implements Outbox {
  readonly #directory: string
  readonly #log: Logger
  readonly #queue: QueuedEvent[] = []
  readonly #turns = createSerialQueue()
  #lastNumber = 0

  constructor(directory: string, log: Logger) {
    this.#directory = directory
    this.#log = log
  }

  async load(): Promise<void> {
    await removeStagedFiles(this.#directory)
    const fileNames = (await readdir(this.#directory)).filter((name) => FILE_NAME.test(name)).sort()
    for (const fileName of fileNames) {
      this.#lastNumber = Number(fileName.slice(0, 12))
      const body = await this.#read(fileName)
      if (body === undefined) await this.#setAside(fileName, 'it cannot be read')
      else this.#queue.push({ fileName, body })
    }
  }

  enqueue(event: AgentEvent, requestId: string = timeOrderedUuid()): Promise<void> {
    return this.#turns.run(async () => {
      if (this.#queue.some(({ body }) => body.request_id === requestId)) return
      const number = this.#lastNumber + 1
      const fileName = `${String(number).padStart(12, '0')}-${requestId}.json`
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
    return this.#queue.map(({ body }) => ({ type: body.tipo_evento, deliveryId: body.entrega_id }))
  }

  async #send(
    hub: Pick<HubClient, 'sendEvent'>,
    { fileName, body }: QueuedEvent,
  ): Promise<HubUnreachableError | HubRefusal | undefined> {
    const outcome = await hub.sendEvent(body).catch((error: unknown) => {
      if (error instanceof HubUnreachableError) return error
      throw error
    })
    if (outcome instanceof HubUnreachableError) return outcome
    if (!outcome.ok && !isEventRefusedForGood(outcome)) return outcome
    if (outcome.ok) {
      this.#log.debug({ event: body.tipo_evento, request_id: body.request_id }, 'Event recorded')
      // Not fsynced: were the removal lost, the hub would answer the same for the same request_id.
      await removeIfPresent(join(this.#directory, fileName))
    } else {
      // A delivery that was cancelled or replaced meanwhile is nobody's fault.
      const level = meaningOfRefusal(outcome) === 'cancelled' ? 'info' : 'warn'
      await this.#setAside(fileName, describeRefusal(outcome), { event: body.tipo_evento, level })
    }
    return undefined
  }

  async #read(fileName: string): Promise<EventRequestBody | undefined> {
    try {
      const text = await readTextIfPresent(join(this.#directory, fileName), FILE_BYTES_MAX)
      const body = JSON.parse(text ?? '') as unknown
      return Check(EventRequestBody, body) ? body : undefined
    } catch (error) {
      this.#log.warn({ file: fileName, error: describeError(error) }, 'Unreadable event')
      return undefined
    }
  }

  async #setAside(
    fileName: string,
    reason: string,
    { event, level }: { event?: string; level: 'info' | 'warn' } = { level: 'warn' },
  ): Promise<void> {
    this.#log[level]({ file: fileName, event, reason }, 'Event set aside')
    const refusedDir = join(this.#directory, REFUSED_DIR)
    await rename(join(this.#directory, fileName), join(refusedDir, fileName))
    await syncDirectory(refusedDir)
    const names = (await readdir(refusedDir)).sort()
    for (const name of names.slice(0, -REFUSED_COUNT_MAX)) {
      await removeIfPresent(join(refusedDir, name))
    }
  }
}
