// One server of the host: started in the foreground, with what it says kept for whoever has to find out why it ended.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { waitUntil } from '../../support/processes.ts'
import type { ServiceHost } from './service-host.ts'

export interface ServiceCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly port: number
  /** How it is told to end. */
  readonly stopSignal: NodeJS.Signals
}

const START_MS = 60_000
const STOP_MS = 10_000

/** Resolves when it listens; it ends with the host. */
export async function startService(host: ServiceHost, command: ServiceCommand): Promise<void> {
  const { program, args, port, stopSignal } = command
  const child = spawn(program, [...args], {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  ended.catch(() => undefined)
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => output.push(chunk))
  }
  host.resources.defer(() => stop(child, ended, stopSignal))
  await waitUntil(
    `${program} to listen`,
    async () => {
      if (hasEnded(child)) throw new Error(`${program} ended: ${Buffer.concat(output).toString()}`)
      return (await isListening(port)) ? true : undefined
    },
    START_MS,
  )
}

async function stop(
  child: ChildProcess,
  ended: Promise<unknown>,
  signal: NodeJS.Signals,
): Promise<void> {
  if (hasEnded(child)) return
  child.kill(signal)
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(killer)
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const finish = (isUp: boolean): void => {
      socket.destroy()
      resolve(isUp)
    }
    socket.on('connect', () => finish(true))
    socket.on('error', () => finish(false))
  })
}
