import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type ClientFlight, createClientFlight } from './client-flight.ts'
import { measureCost } from './measure-cost.ts'
import type { OpenRecord } from './record-opener.ts'

/**
 * A TCP connection as TLS sees it: until the client's certificate is there, TLS gets the bytes that `ClientFlight` lets through;
 * afterwards it gets all bytes. Node hands a socket's bytes to OpenSSL without showing them, so this class is in between.
 */
export class GuardedConnection extends Duplex {
  readonly socket: Socket
  /** Of the event loop, for what it sent until its certificate was let through. */
  #handshakeMs = 0
  #flight: ClientFlight | undefined = createClientFlight()
  /** What was read of the socket before; TLS gets it when it begins to read. */
  #hello: Buffer | undefined
  /** For its turn: what follows the certificate must not overtake it. */
  #isWaiting = false
  #resumeWriting: (() => void) | undefined

  readonly #takeTurn: (work: () => void) => void

  /** The socket is paused. `takeTurn` calls, now or later, when the certificate may be verified. */
  constructor(socket: Socket, hello: Buffer, takeTurn: (work: () => void) => void) {
    super()
    this.socket = socket
    this.#hello = hello
    this.#takeTurn = takeTurn
    // It may fail while it waits for its turn, when TLS does not listen to it yet: that is not a bug.
    this.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('end', () => this.push(null))
    socket.on('drain', () => this.#drained())
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  get handshakeMs(): number {
    return this.#handshakeMs
  }

  /** The client's records are encrypted from here on. */
  useKey(open: OpenRecord): void {
    this.#flight?.useKey(open)
  }

  #refuse(reason: string): void {
    this.destroy(new Error(reason))
  }

  #receive(chunk: Buffer): void {
    if (this.#flight === undefined) {
      if (!this.push(chunk)) this.socket.pause()
      return
    }
    const cost = measureCost()
    const verdict = this.#flight.take(chunk)
    this.#handshakeMs += cost()
    if (!verdict.ok) this.#refuse(verdict.reason)
    else if (verdict.isOver) {
      this.#flight = undefined
      this.#isWaiting = true
      this.socket.pause()
      this.#takeTurn(() => {
        this.#isWaiting = false
        this.#passOn(verdict.bytes)
      })
    } else this.#passOn(verdict.bytes)
  }

  /** TLS does its work in here. */
  #passOn(bytes: Buffer): void {
    if (this.destroyed || bytes.length === 0) return
    const cost = measureCost()
    if (this.push(bytes)) this.socket.resume()
    else this.socket.pause()
    this.#handshakeMs += cost()
  }

  override _read(): void {
    const hello = this.#hello
    this.#hello = undefined
    if (hello !== undefined) this.#receive(hello)
    if (!this.#isWaiting) this.socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#write(this.socket.write(chunk), done)
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.socket.cork()
    let hasRoom = true
    for (const { chunk } of chunks) hasRoom = this.socket.write(chunk)
    this.socket.uncork()
    this.#write(hasRoom, done)
  }

  #write(hasRoom: boolean, done: () => void): void {
    if (hasRoom) done()
    else this.#resumeWriting = done
  }

  #drained(): void {
    const resume = this.#resumeWriting
    this.#resumeWriting = undefined
    resume?.()
  }

  override _final(done: () => void): void {
    this.socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy()
    this.#drained()
    done(error)
  }
}
