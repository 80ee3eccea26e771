// How a hub asks its standby: one request at a time, on the connection that the standby keeps to it. docs/protocol.md STB-5.

import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import type { TSchema, Static } from 'typebox'
import { Check } from 'typebox/value'
import { describeConnectionFailure } from '../../platform/connection-failure.ts'
import { describeError, errnoCode } from '../../platform/errors.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import type { JournalPosition, JournalRecord } from '../store/journal.ts'
import type { ImageHead, ImageWriter } from '../store/journal-images.ts'
import { StoreError } from '../store/store-error.ts'
import type { StandbyMode } from '../../protocol/standby.ts'
import type { StandbyLine } from './standby-line.ts'
import {
  CLAIM_HEADER,
  ClaimReply,
  EndReply,
  FailureReply,
  IMAGE_HEADER,
  NUMBER_HEADER,
  readPosition,
  RECORD_BYTES_MAX,
  RecordsReply,
  showPosition,
  STANDBY_ROUTES,
} from './standby-wire.ts'

/** The standby answered that it did not do it. */
export class StandbyRefusal extends Error {
  override name = 'StandbyRefusal'
  readonly kind: FailureReply['error']
  constructor({ error, message }: FailureReply) {
    super(message)
    this.kind = error
  }
}

export interface Claimed {
  readonly journal: string
  readonly end: JournalPosition | undefined
}

/** The one that answers says that it is a hub. */
export class OtherHub extends Error {
  override name = 'OtherHub'
  readonly epoch: number
  constructor(epoch: number) {
    super(`it is no standby: it is a hub, with the log in epoch ${epoch}`)
    this.epoch = epoch
  }
}

/** A record in base64, and some before it. */
const REPLY_BYTES_MAX = 2 * RECORD_BYTES_MAX
const CONNECT_MS = 2000
/** A standby that syncs a record for longer than this is as good as away. */
const RECORD_MS = 5000
const IMAGE_SILENT_MS = 30_000

/** All of it throws StandbyRefusal, OtherHub, or what kept it from an answer. */
export class StandbyClient {
  readonly #line: Pick<StandbyLine, 'take'>
  readonly #hub: string
  readonly #turns = createSerialQueue()
  #connection: Connection | undefined
  #claim = ''

  constructor(line: Pick<StandbyLine, 'take'>, hub: string) {
    this.#line = line
    this.#hub = hub
  }

  /** `mode` is how the hub goes on without the standby. */
  async claim(mode: StandbyMode, timeoutMs = CONNECT_MS): Promise<Claimed> {
    const body = JSON.stringify({ hub: this.#hub, mode })
    const reply = await this.#ask('POST', STANDBY_ROUTES.claim, { body, timeoutMs }, ClaimReply)
    if (reply.role === 'hub') throw new OtherHub(reply.epoch)
    this.#claim = reply.claim
    const { journal, end } = reply
    return { journal, end: end === null ? undefined : readPosition(end) }
  }

  async read(after: number): Promise<readonly JournalRecord[]> {
    const path = `${STANDBY_ROUTES.records}?after=${after}`
    const { records } = await this.#ask('GET', path, { timeoutMs: RECORD_MS }, RecordsReply)
    return records.map(({ number, sealed }) => ({ number, sealed: Buffer.from(sealed, 'base64') }))
  }

  async append({ number, sealed }: JournalRecord): Promise<JournalPosition> {
    const headers = { [NUMBER_HEADER]: String(number) }
    const options = { headers, body: sealed, timeoutMs: RECORD_MS }
    return readPosition((await this.#ask('POST', STANDBY_ROUTES.records, options, EndReply)).end)
  }

  beginImage(head: ImageHead, journal: string): ImageWriter {
    const { position, kind, version, bytes, salt } = head
    const image = { journal, position: showPosition(position), kind, version, bytes, salt }
    const request = this.#begin('POST', STANDBY_ROUTES.image, {
      headers: { [IMAGE_HEADER]: JSON.stringify(image) },
      timeoutMs: IMAGE_SILENT_MS,
    })
    const replied = readReply(request, EndReply)
    // It is looked at when the image ends, or the next piece cannot be sent.
    replied.catch(() => undefined)
    return {
      append: async (piece) => {
        if (request.destroyed) await replied
        if (request.write(piece)) return
        await Promise.race([once(request, 'drain'), replied])
      },
      finish: async () => {
        request.end()
        await replied
      },
      close: async () => void request.destroy(),
    }
  }

  /** What is under way ends; the next request connects again. */
  disconnect(): void {
    this.#connection?.socket.destroy()
  }

  #ask<Schema extends TSchema>(
    method: 'GET' | 'POST',
    path: string,
    options: RequestOptions & { readonly body?: string | Buffer },
    schema: Schema,
  ): Promise<Static<Schema>> {
    // An Agent never answers all of those that wait for a connection that it does not get.
    return this.#turns.run(() => {
      const request = this.#begin(method, path, options)
      const replied = readReply(request, schema)
      request.end(options.body)
      return replied
    })
  }

  #begin(method: string, path: string, { headers, timeoutMs }: RequestOptions): ClientRequest {
    const request = httpRequest({
      agent: this.#connect().agent,
      host: 'standby',
      method,
      path,
      headers: { [CLAIM_HEADER]: this.#claim, ...headers },
      timeout: timeoutMs,
    })
    return request.on('timeout', () =>
      request.destroy(new Error(`timeout: nothing came for ${timeoutMs} ms`)),
    )
  }

  #connect(): Connection {
    if (this.#connection?.socket.destroyed !== false) {
      this.#connection = keepConnection(this.#line.take())
    }
    return this.#connection
  }
}

interface Connection {
  readonly socket: TLSSocket
  readonly agent: Agent
}

/** For one request after the other. */
function keepConnection(socket: TLSSocket): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agent.createConnection = (_options, callback) => {
    if (!socket.destroyed) return socket
    // There is no socket with an error, whatever the type says.
    callback?.(new Error('the standby closed the connection'), undefined as never)
    return undefined
  }
  return { socket, agent }
}

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export function describeStandbyFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const why =
    error instanceof StandbyRefusal || errnoCode(error) === undefined
      ? describeError(error)
      : describeConnectionFailure(error)
  return new StoreError('store_unavailable', `the standby: ${why}`, { cause: error })
}

async function readReply<Schema extends TSchema>(
  request: ClientRequest,
  schema: Schema,
): Promise<Static<Schema>> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
  })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > REPLY_BYTES_MAX) throw new Error(`the reply is over ${REPLY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
  if (response.statusCode === 200 && Check(schema, body)) return body
  if (response.statusCode === 409 && Check(FailureReply, body)) throw new StandbyRefusal(body)
  throw new Error('the reply has another form')
}
