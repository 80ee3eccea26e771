// A CA as a process of its own, started by a test: the same for svc-ca and for the real step-ca.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'undici'
import { waitUntil } from './processes.ts'

export interface RunningCa {
  readonly url: string
  readonly rootPath: string
  readonly provisionerKid: string
  /** The private JWK, JSON on one line. */
  readonly provisionerKey: string
  readonly provisionerName: string
  /** The four SVC_CA_* variables of a hub. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends the process; everything on disk stays. */
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** stop(), and removes the directory unless the caller named it. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface CaProcess {
  readonly pid: number
  stop(): Promise<void>
}

const STOP_MS_MAX = 5000

/** Resolves when the CA answers `ok` at /health; a process that ends before that is an error with its output. */
export async function startCaProcess(
  command: string,
  args: readonly string[],
  { url, rootPath }: { readonly url: string; readonly rootPath: string },
): Promise<CaProcess> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()))
  const stop = (): Promise<void> => stopProcess(child)
  try {
    await waitUntilHealthy(url, await readFile(rootPath, 'utf8'), child)
  } catch (error) {
    await stop()
    throw new Error(`${command} did not start:\n${output.join('')}`, { cause: error })
  }
  return { pid: child.pid ?? 0, stop }
}

/** Whether /health answers `ok` by now. */
export async function isCaHealthy(url: string, rootPem: string): Promise<boolean> {
  const dispatcher = new Agent({ connect: { ca: rootPem }, allowH2: false })
  try {
    const reply = await request(`${url}/health`, { dispatcher })
    return reply.statusCode === 200 && (await reply.body.text()).includes('"ok"')
  } catch {
    // Not listening yet.
    return false
  } finally {
    await dispatcher.destroy()
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await ended
  clearTimeout(killer)
}

async function waitUntilHealthy(url: string, rootPem: string, child: ChildProcess): Promise<void> {
  await waitUntil('the CA to be healthy', async () => {
    if (await isCaHealthy(url, rootPem)) return true
    if (hasEnded(child)) throw new Error('the process ended')
    return undefined
  })
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined
}
