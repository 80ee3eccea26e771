// The streams that agents hold at one process of a hub, with both ends of their connections. What one end sends comes to the other in its order and
// a while later; a connection that is lost lets both ends believe in it for a while.

import { EventStreamParser, type StreamMessage } from '../../../src/platform/parse-event-stream.ts'
import { HubUnreachableError } from '../../../src/agent/hub/request.ts'
import type { StreamConnection } from '../../../src/hub/http/agent-streams.ts'
import type { AgentId } from '../../../src/protocol/identifiers.ts'
import type { OpenConnections } from '../simulated-hub.ts'
import type { Faults } from './faults.ts'
import type { Kernel, Program } from './kernel.ts'
import { HUB_SLOWNESS } from './simulated-database.ts'

/** As the judge of a stream sees it, at the hub's end. */
export interface HeldStream {
  readonly agentId: AgentId
  readonly openedAtMs: number
  /** When the hub said last that there may be something new. */
  readonly toldAtMs: number
}

export interface OpenedStream {
  readonly agentId: AgentId
  /** Of the certificate that was shown. */
  readonly sha256: string
  readonly agent: Program
  /** Ends it from the agent's side. */
  readonly signal: AbortSignal
}

const LATENCY_MS_MAX = 200
/** As the agent's own, and as slow as the hub's beats are here. */
const SILENCE_MS = 60_000 * HUB_SLOWNESS
/** As SVC_LIMIT_RESPONSE_SECONDS. */
const NOT_TAKEN_MS = 30_000
const MANIFEST = /^event: manifest$/m

export interface HeldStreamsOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly hub: Program
  /** Told whose connections the hub ends. */
  readonly onCut: (agentId: AgentId, hub: Program) => void
  /** For a fault put in on purpose: who is cut off keeps the stream. */
  readonly leavesStreams: boolean
}

export class HeldStreams implements OpenConnections {
  readonly #options: HeldStreamsOptions
  readonly #streams = new Set<Stream>()

  constructor(options: HeldStreamsOptions) {
    this.#options = options
    options.hub.onDeath(() => {
      for (const stream of this.#streams) stream.close()
    })
  }

  list(): readonly HeldStream[] {
    return [...this.#streams]
  }

  cut(agentId: AgentId): void {
    const { hub, onCut, leavesStreams } = this.#options
    onCut(agentId, hub)
    if (leavesStreams) return
    for (const stream of this.#streams) if (stream.agentId === agentId) stream.close()
  }

  async cutUnless(isWanted: (sha256: string) => Promise<boolean>): Promise<void> {
    for (const stream of this.#streams) if (!(await isWanted(stream.sha256))) stream.close()
  }

  open(opened: OpenedStream): {
    readonly connection: StreamConnection
    readonly messages: AsyncIterable<StreamMessage>
  } {
    const stream = new Stream(this.#options, opened, () => this.#streams.delete(stream))
    this.#streams.add(stream)
    return { connection: stream.connection, messages: stream.read() }
  }
}

/** To the agent: what was written, or that nothing comes any more. */
type Piece = { readonly text: string } | { readonly end: string | undefined }

class Stream implements HeldStream {
  readonly agentId: AgentId
  readonly sha256: string
  readonly openedAtMs: number
  toldAtMs: number
  readonly connection: StreamConnection
  readonly #kernel: Kernel
  readonly #hub: Program
  readonly #agent: Program
  readonly #forget: () => void
  readonly #onClose: (() => void)[] = []
  readonly #pieces: Piece[] = []
  #onPiece: () => void = () => undefined
  #stopWaiting: () => void = () => undefined
  #arrivesAtMs = 0
  #isOpen = true
  #isLost = false
  #hasLeft = false

  constructor(
    { kernel, faults, hub }: HeldStreamsOptions,
    { agentId, sha256, agent, signal }: OpenedStream,
    forget: () => void,
  ) {
    this.agentId = agentId
    this.sha256 = sha256
    this.#kernel = kernel
    this.#hub = hub
    this.#agent = agent
    this.#forget = forget
    this.openedAtMs = this.#nowMs()
    this.toldAtMs = this.openedAtMs
    this.connection = {
      write: (text) => {
        if (!this.#isOpen) return
        if (MANIFEST.test(text)) this.toldAtMs = this.#nowMs()
        if (faults.happens('stream lost')) this.#lose()
        this.#send({ text })
      },
      bufferedBytes: 0,
      end: () => this.close(),
      onClose: (listener) => void this.#onClose.push(listener),
    }
    signal.addEventListener('abort', () => this.#leave('it is not wanted any more'), { once: true })
    agent.onDeath(() => {
      // A host without power tells nobody.
      if (kernel.random() < 0.5) this.#lose()
      else this.#leave(undefined)
    })
    this.#waitForPiece()
  }

  /** From the hub's side. */
  close(): void {
    if (!this.#isOpen) return
    this.#endHere()
    this.#send({ end: this.#hub.isAlive ? undefined : 'the connection is cut' })
  }

  async *read(): AsyncGenerator<StreamMessage, void> {
    const parser = new EventStreamParser()
    try {
      for (;;) {
        const piece = await this.#next()
        if ('text' in piece) yield* parser.push(piece.text)
        else if (piece.end === undefined) return
        else throw new HubUnreachableError(piece.end)
      }
    } finally {
      this.#leave(undefined)
    }
  }

  /** From the agent's side; the hub finds out a while later. */
  #leave(why: string | undefined): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#stopWaiting()
    this.#take({ end: why })
    if (!this.#isLost) this.#kernel.after(this.#latencyMs(), () => this.#endHere())
  }

  /** No end hears of the other; the hub gives up what is not taken. */
  #lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#kernel.after(NOT_TAKEN_MS, () => this.#endHere())
  }

  #endHere(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#forget()
    for (const tell of this.#onClose) this.#hub.post(() => this.#hub.run(tell))
  }

  #send(piece: Piece): void {
    if (this.#isLost) return
    this.#arrivesAtMs = Math.max(this.#arrivesAtMs, this.#nowMs() + this.#latencyMs())
    this.#kernel.after(this.#arrivesAtMs - this.#nowMs(), () =>
      this.#agent.post(() => {
        this.#take(piece)
        this.#waitForPiece()
      }),
    )
  }

  #take(piece: Piece): void {
    this.#pieces.push(piece)
    this.#onPiece()
  }

  async #next(): Promise<Piece> {
    for (;;) {
      const piece = this.#pieces.shift()
      if (piece !== undefined) return piece
      await new Promise<void>((resolve) => {
        this.#onPiece = resolve
      })
    }
  }

  #waitForPiece(): void {
    this.#stopWaiting()
    if (this.#hasLeft) return
    this.#stopWaiting = this.#kernel.addTimer(SILENCE_MS, this.#agent, () =>
      this.#agent.post(() => this.#leave('it is silent')),
    )
  }

  #latencyMs(): number {
    return this.#kernel.random() * LATENCY_MS_MAX
  }

  #nowMs(): number {
    return this.#kernel.now().getTime()
  }
}
