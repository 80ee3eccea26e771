// The console on this machine's loopback, from this program's own package. docs/protocol.md LOC.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConsoleFiles } from '../../console-files/console-files.ts'
import type { Clock } from '../../platform/clock.ts'
import { SIGN_IN_PATH } from '../../protocol/admin/sessions.ts'
import type { HubLine } from '../doors/hub-line.ts'
import type { OpenPins } from '../sealed/open-pins.ts'
import { closeServer, listenOnLoopback } from '../terminal/listen-on-loopback.ts'
import { answerRequest } from './answer-request.ts'
import { sendFailure } from './local-answers.ts'
import { createLocalSessions, type LocalSessions } from './local-sessions.ts'
import { createPinDesk } from './pin-desk.ts'

export interface ServedConsole {
  readonly origin: string
  /** Of the first sign-in. */
  readonly link: string
  close(): Promise<void>
}

export interface ConsoleOptions {
  readonly line: HubLine
  readonly files: ConsoleFiles
  readonly openPins: () => Promise<OpenPins>
  /** Of the pins, as people are told. */
  readonly pinsPath: string
  readonly clock: Clock
  /** 0 for one that is free. */
  readonly port: number
  /** A session has ended: this one begins the next. */
  readonly onLink: (link: string) => void
}

/** A browser opens six, and one for each stream of changes. */
const CONNECTIONS_MAX = 32
const HEADER_BYTES_MAX = 16 * 1024
const HEADERS_MS_MAX = 10_000
/** A sealed file comes from the same machine. */
const REQUEST_MS_MAX = 60_000
const KEEP_ALIVE_MS = 60_000
const SWEEP_MS = 15_000

export async function serveConsole(options: ConsoleOptions): Promise<ServedConsole> {
  const { line, files, openPins, pinsPath, clock, onLink } = options
  const held = new Map<string, Set<ServerResponse>>()
  let origin = ''
  let isClosing = false
  const holder = await line.findHolder()
  const sessions = createLocalSessions(holder, clock, (id) => {
    // What is on its way to the page that ended it arrives.
    for (const response of held.get(id) ?? []) if (!response.writableEnded) response.destroy()
    held.delete(id)
    if (!isClosing) onLink(linkTo(origin, sessions.makeCode()))
  })
  const desk = createPinDesk(line.operations, openPins)
  const holdFor = (id: string, response: ServerResponse): void => {
    const responses = held.get(id) ?? new Set()
    held.set(id, responses.add(response))
    response.once('close', () => responses.delete(response))
  }
  const local = { hub: line.hub, pins: pinsPath }
  const console = { files, line, sessions, desk, local, clock, holdFor }
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      const { port } = server.address() as AddressInfo
      answerRequest(console, request, response, port).catch((error: unknown) =>
        sendFailure(response, error),
      )
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  origin = `http://127.0.0.1:${await listenOnLoopback(server, options.port)}`
  const closing = new AbortController()
  const sweeping = sweep(sessions, clock, closing.signal)
  return {
    origin,
    link: linkTo(origin, sessions.makeCode()),
    close: async () => {
      isClosing = true
      closing.abort()
      await sweeping
      sessions.endAll()
      await closeServer(server)
    },
  }
}

/** Streams of a session that nobody uses end without a request. */
async function sweep(sessions: LocalSessions, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(SWEEP_MS, signal).catch(() => undefined)
    sessions.endStale()
  }
}

/** A browser sends what follows `#` to nobody. */
function linkTo(origin: string, code: string): string {
  return `${origin}${SIGN_IN_PATH}#code=${code}`
}
