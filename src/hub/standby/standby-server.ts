// What a standby answers its hub on the connection that it keeps to it; and a hub that was a standby, which tells the old hub so.
// docs/protocol.md STB-5.

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type TSchema, type Static } from 'typebox'
import { Check } from 'typebox/value'
import { ByteQueue } from '../../platform/byte-queue.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { parseJson } from '../../platform/parse-json.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import { IMAGE_PIECE_BYTES, countImagePieces, countPieceBytes } from '../store/image-seal.ts'
import { SEAL_BYTES } from '../../platform/sealed-pieces.ts'
import type { ImageHead } from '../store/journal-images.ts'
import { StoreError } from '../store/store-error.ts'
import type { StandbyCopy } from './standby-copy.ts'
import type { StandbyMode } from '../../protocol/standby.ts'
import {
  CLAIM_HEADER,
  ClaimBody,
  type ClaimReply,
  type FailureReply,
  IMAGE_HEADER,
  ImageBody,
  NUMBER_HEADER,
  RECORD_BYTES_MAX,
  readPosition,
  showPosition,
  STANDBY_ROUTES,
} from './standby-wire.ts'

export interface StandbyPlace {
  readonly copy: StandbyCopy
  /** That the copy follows; empty when a hub could not go on from the copy. */
  readonly journal: string
  /** Durable when it resolves, and before `journal` says it. */
  keep(
    this: void,
    changes: { readonly journal?: string; readonly mode?: StandbyMode },
  ): Promise<void>
}

export interface HubHeard {
  readonly id: string
  readonly mode: StandbyMode
  /** By a clock that never jumps. */
  readonly atMs: number
  readonly isConnected: boolean
}

export interface StandbyServer {
  /** Answers what the hub asks on a connection to it. */
  serve(this: void, socket: TLSSocket): void
  /** Whether the hub asked anything on it. */
  wasAsked(this: void, socket: TLSSocket): boolean
  /** The hub that spoke last; undefined since the start. */
  readonly heard: HubHeard | undefined
}

const CLAIM_BYTES_MAX = 4096
/** A hub asks each second: a connection on which nothing is asked for longer is given up, and another one made. */
const SILENT_MS = 5000
/** Of an image, which is checked and synced at its end. */
const IMAGE_SILENT_MS = 60_000

interface Claim {
  readonly hub: string
  readonly id: string
  readonly mode: StandbyMode
  readonly socket: Socket
}

/** `place` of a standby; of a hub the epoch of its log. */
export function createStandbyServer(
  place: StandbyPlace | { readonly epoch: () => Promise<number> },
  log: Logger,
): StandbyServer {
  let claim: Claim | undefined
  let heardMs = Number.NEGATIVE_INFINITY
  const images = createSerialQueue()
  const asked = new WeakSet<Socket>()
  const isAlive = (): boolean =>
    claim !== undefined && !claim.socket.destroyed && performance.now() - heardMs < SILENT_MS

  const takeClaim = async (
    standby: StandbyPlace,
    { hub, mode }: ClaimBody,
    socket: Socket,
  ): Promise<ClaimReply> => {
    if (claim !== undefined && claim.hub !== hub && isAlive()) {
      throw new Refusal('claimed', 'another hub has this standby')
    }
    await standby.keep({ mode })
    if (claim?.hub !== hub) log.info({ hub, mode }, 'Hub connected')
    // What an earlier connection has sent, and is not read yet, counts no more.
    claim = { hub, mode, socket, id: randomUUID() }
    const { id } = claim
    // What is being run, or is at its end, is in it.
    await images.run(async () => undefined)
    const end = await standby.copy.settle()
    const { journal } = standby
    return { role: 'standby', claim: id, journal, end: end ? showPosition(end) : null }
  }
  const takeImage = async (
    { copy, keep }: StandbyPlace,
    request: IncomingMessage,
  ): Promise<object> => {
    const head = parse(ImageBody, String(request.headers[IMAGE_HEADER]))
    const image: ImageHead = { ...head, position: readPosition(head.position) }
    // tidy: sockets are silent in real time.
    request.socket.setTimeout(IMAGE_SILENT_MS)
    // Until the image is here, what is here is of no journal that the hub could go on with.
    await keep({ journal: '' })
    const noteHeard = (): void => void (heardMs = performance.now())
    const end = await copy.replaceBy(image, readPieces(request, image, noteHeard))
    await keep({ journal: head.journal })
    log.info({ record: end.number, bytes: image.bytes }, 'Copy of the vault received')
    return { end: showPosition(end) }
  }
  const requireClaim = (request: IncomingMessage): void => {
    if (claim === undefined || request.headers[CLAIM_HEADER] !== claim.id) {
      throw new Refusal('claimed', 'another connection has this standby')
    }
  }
  const answer = async (standby: StandbyPlace, request: IncomingMessage): Promise<object> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://standby')
    const what = `${request.method} ${pathname}`
    heardMs = performance.now()
    if (what === `POST ${STANDBY_ROUTES.claim}`) {
      const body = parse(ClaimBody, (await readBody(request, CLAIM_BYTES_MAX)).toString())
      return takeClaim(standby, body, request.socket)
    }
    requireClaim(request)
    if (what === `GET ${STANDBY_ROUTES.records}`) {
      const records = await standby.copy.listKept(Number(searchParams.get('after')))
      return {
        records: records.map(({ number, sealed }) => ({
          number,
          sealed: sealed.toString('base64'),
        })),
      }
    }
    if (what === `POST ${STANDBY_ROUTES.records}`) {
      const sealed = await readBody(request, RECORD_BYTES_MAX)
      // Another one may have come while the body did.
      requireClaim(request)
      const number = Number(request.headers[NUMBER_HEADER])
      return { end: showPosition(await standby.copy.append({ number, sealed })) }
    }
    if (what === `POST ${STANDBY_ROUTES.image}`) {
      return images.run(() => takeImage(standby, request))
    }
    throw new Refusal('invalid', `${what} is no route of a standby`)
  }

  // It listens nowhere: its connections are those to the hub.
  const server = createServer(
    { keepAliveTimeout: SILENT_MS, requestTimeout: 0 },
    (request, response) => {
      asked.add(request.socket)
      const answered =
        'epoch' in place
          ? place.epoch().then((epoch): ClaimReply => ({ role: 'hub', epoch }))
          : answer(place, request)
      answered.then(
        (body) => reply(response, 200, body),
        (error: unknown) => {
          const failure = describeFailure(error)
          if (failure.error !== 'promoted') log.warn({ reason: failure.message }, 'Hub refused')
          reply(response, 409, failure)
        },
      )
    },
  )
  // tidy: as above.
  server.setTimeout(SILENT_MS)
  return {
    serve: (socket) => void server.emit('connection', socket),
    wasAsked: (socket) => asked.has(socket),
    get heard() {
      if (claim === undefined) return undefined
      return { id: claim.hub, mode: claim.mode, atMs: heardMs, isConnected: isAlive() }
    },
  }
}

class Refusal extends Error {
  readonly error: FailureReply['error']
  constructor(error: FailureReply['error'], message: string) {
    super(message)
    this.error = error
  }
}

/** What is here is not what the hub has, or is damaged: only a copy helps. */
const DIVERGED: ReadonlySet<string> = new Set([
  'store_diverged',
  'store_missing',
  'store_behind',
  'store_conflict',
  'store_corrupt',
])

function describeFailure(error: unknown): FailureReply {
  if (error instanceof Refusal) return { error: error.error, message: error.message }
  const message = describeError(error).slice(0, 1000)
  if (!(error instanceof StoreError)) return { error: 'refused', message }
  if (error.code === 'hub_deposed') return { error: 'promoted', message }
  const isDiverged = DIVERGED.has(error.code)
  return { error: isDiverged ? 'diverged' : 'refused', message }
}

function reply(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Refusal('invalid', `a body over ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** One piece is in memory at a time. Also what comes behind the last one, for the one that judges them. */
async function* readPieces(
  request: IncomingMessage,
  head: ImageHead,
  noteHeard: () => void,
): AsyncGenerator<Buffer, void> {
  const queue = new ByteQueue(noting(request, noteHeard))
  for (let index = 0; ; index += 1) {
    const isBehind = index >= countImagePieces(head)
    const wanted = isBehind ? IMAGE_PIECE_BYTES : countPieceBytes(head, index) + SEAL_BYTES
    const piece = await queue.take(wanted)
    if (piece.length > 0) yield piece
    if (piece.length < wanted) return
  }
}

async function* noting(request: IncomingMessage, note: () => void): AsyncGenerator<Buffer, void> {
  for await (const chunk of request as AsyncIterable<Buffer>) {
    note()
    yield chunk
  }
}

function parse<Schema extends TSchema>(schema: Schema, text: string): Static<Schema> {
  const value = parseJson(text)
  if (Check(schema, value)) return value
  throw new Refusal('invalid', 'the request has another form')
}
