// `agent.sock`: how a command reaches the agent that runs. One line of JSON asks, one line answers.

import { chmod } from 'node:fs/promises'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { errnoCode, SvcError } from '../../platform/errors.ts'
import { removeIfPresent } from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { printableLines } from '../../platform/printable.ts'
import { openSocketPath } from '../../platform/unix-socket.ts'
import { TargetReport } from '../targets/target-report.ts'

export type ControlOperation = 'rotate' | 'status' | 'poll' | 'restart'
export type ControlHandlers = Readonly<Record<ControlOperation, () => Promise<unknown>>> & {
  /** What `targets apply` has to tell the hub. */
  readonly report: (report: TargetReport) => Promise<unknown>
}

const Request = Type.Union([
  Type.Object({
    operation: Type.Union([
      Type.Literal('rotate'),
      Type.Literal('status'),
      Type.Literal('poll'),
      Type.Literal('restart'),
    ]),
  }),
  Type.Object({ operation: Type.Literal('report'), report: TargetReport }),
])
type Request = Static<typeof Request>

const Reply = Type.Union([
  Type.Object({ ok: Type.Literal(true), result: Type.Unknown() }),
  Type.Object({
    ok: Type.Literal(false),
    code: Type.String(),
    message: Type.String(),
    hint: Type.Optional(Type.String()),
  }),
])
type Reply = Static<typeof Reply>

/** Room for a report with as many paths as an event may name. */
const REQUEST_BYTES_MAX = 64 * 1024
const REPLY_BYTES_MAX = 16 * 1024 * 1024
const REQUEST_TIMEOUT_MS = 5000
const CONNECTIONS_MAX = 16
/** A round with slow hooks under way may come first. */
const REPLY_TIMEOUT_MS = 10 * 60_000
/** Nothing comes before a report, and root waits for no agent for long. */
const REPORT_TIMEOUT_MS = 10_000
const REPORT_REPLY_BYTES_MAX = 64 * 1024

/** Serves until the process ends; the caller holds the agent's lock, so a socket that is there is a stale one. */
export async function serveControlSocket(
  directory: string,
  name: string,
  handlers: ControlHandlers,
  log: Logger,
): Promise<Server> {
  const path = join(directory, name)
  await removeIfPresent(path)
  const server = createServer((socket) => {
    void answer(socket, handlers, log)
  })
  server.maxConnections = CONNECTIONS_MAX
  const socketPath = openSocketPath(path)
  // Nobody else's from its first moment: bind makes the socket with the umask's bits off.
  const umask = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(socketPath.path, () => resolve())
      process.umask(umask)
    })
  } finally {
    process.umask(umask)
    socketPath.release()
  }
  await chmod(path, 0o600)
  return server
}

/** The running agent's result, or undefined when none listens. Throws what it answers as a failure. */
export function askRunningAgent(
  directory: string,
  name: string,
  operation: ControlOperation,
  replyTimeoutMs: number = REPLY_TIMEOUT_MS,
): Promise<{ readonly result: unknown } | undefined> {
  return ask(join(directory, name), { operation }, replyTimeoutMs, REPLY_BYTES_MAX)
}

/** As askRunningAgent; the agent has it durably when this resolves. */
export function reportToRunningAgent(
  directory: string,
  name: string,
  report: TargetReport,
): Promise<{ readonly result: unknown } | undefined> {
  const request: Request = { operation: 'report', report }
  return ask(join(directory, name), request, REPORT_TIMEOUT_MS, REPORT_REPLY_BYTES_MAX)
}

/** Whether an agent that runs has its socket open; one that only holds the lock has none. */
export async function isAgentListening(directory: string, name: string): Promise<boolean> {
  const socket = await connect(join(directory, name))
  socket?.destroy()
  return socket !== undefined
}

async function ask(
  path: string,
  request: Request,
  timeoutMs: number,
  replyBytesMax: number,
): Promise<{ readonly result: unknown } | undefined> {
  const line = await exchange(path, `${JSON.stringify(request)}\n`, timeoutMs, replyBytesMax)
  if (line === undefined) return undefined
  const reply = parseReply(line)
  if (reply.ok) return { result: reply.result }
  // It goes to terminals and logs, root's among them.
  const hint = reply.hint === undefined ? {} : { hint: printableLines(reply.hint) }
  throw new SvcError(reply.code, printableLines(reply.message), hint)
}

async function exchange(
  path: string,
  request: string,
  timeoutMs: number,
  replyBytesMax: number,
): Promise<string | undefined> {
  const socket = await connect(path)
  if (socket === undefined) return undefined
  // tidy: the other side answers in real time; a byte now and then does not prolong it.
  const timer = setTimeout(() => socket.destroy(new Error('timeout')), timeoutMs)
  try {
    socket.write(request)
    return await readLine(socket, replyBytesMax)
  } catch (error) {
    throw new SvcError('agent_silent', 'the running agent did not answer', { cause: error })
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

async function connect(path: string): Promise<Socket | undefined> {
  let socketPath
  try {
    socketPath = openSocketPath(path)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
  const socket = createConnection(socketPath.path)
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return socket
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes(errnoCode(error) ?? '')) return undefined
    throw new SvcError('agent_unreachable', `cannot reach the running agent at ${path}`, {
      cause: error,
    })
  } finally {
    socketPath.release()
  }
}

async function answer(socket: Socket, handlers: ControlHandlers, log: Logger): Promise<void> {
  socket.on('error', () => undefined)
  // tidy: the socket's own time-out.
  socket.setTimeout(REQUEST_TIMEOUT_MS, () => socket.destroy())
  try {
    const request = parseRequest(await readLine(socket, REQUEST_BYTES_MAX))
    // tidy: the socket's own time-out.
    socket.setTimeout(0)
    socket.end(`${JSON.stringify(await replyTo(request, handlers, log))}\n`)
  } catch (error) {
    log.debug({ error: String(error) }, 'Control connection dropped')
    socket.destroy()
  }
}

async function replyTo(
  request: Request | undefined,
  handlers: ControlHandlers,
  log: Logger,
): Promise<Reply> {
  if (request === undefined) {
    return {
      ok: false,
      code: 'request_invalid',
      message: 'the running agent does not know this operation',
    }
  }
  try {
    return { ok: true, result: (await carryOut(request, handlers)) ?? null }
  } catch (error) {
    if (error instanceof SvcError) {
      const { code, message, hint } = error
      return { ok: false, code, message, ...(hint === undefined ? {} : { hint }) }
    }
    log.error({ operation: request.operation, error: String(error) }, 'Control operation failed')
    return { ok: false, code: 'internal_error', message: 'internal error; see the agent’s log' }
  }
}

function carryOut(request: Request, handlers: ControlHandlers): Promise<unknown> {
  if (request.operation === 'report') return handlers.report(request.report)
  return handlers[request.operation]()
}

function parseRequest(line: string): Request | undefined {
  const request = JSON.parse(line) as unknown
  return Check(Request, request) ? request : undefined
}

function parseReply(line: string): Reply {
  const reply = JSON.parse(line) as unknown
  if (Check(Reply, reply)) return reply
  throw new SvcError('agent_reply_invalid', 'the running agent sent an unknown answer', {
    hint: 'if it has another version, restart it',
  })
}

function readLine(socket: Socket, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end >= 0) resolve(text.slice(0, end))
      else if (text.length > bytesMax) reject(new Error('line too long'))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('closed before a whole line')))
  })
}
