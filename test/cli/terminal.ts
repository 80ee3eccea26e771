// A command on a terminal of its own, which script(1) of util-linux makes.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const BIN = fileURLToPath(new URL('../../bin', import.meta.url))

export interface Exchange {
  /** What the terminal has to show before the answer is typed. */
  readonly awaits: string
  readonly types: string | (() => string)
}

export interface TerminalOutcome {
  /** All that was on the terminal, in order. */
  readonly screen: string
  readonly exitStatus: number | null
}

/** Why there is no terminal to be had; false when there is. */
export function findTerminalFault(): string | false {
  return spawnSync('script', ['--version']).status === 0 ? false : 'script(1) is not installed'
}

/** Types each answer when its question has appeared; a question that never comes ends it after half a minute. */
export async function runOnTerminal(
  command: string,
  env: Readonly<Record<string, string>>,
  exchanges: readonly Exchange[] = [],
): Promise<TerminalOutcome> {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: `${BIN}:${process.env['PATH'] ?? ''}`, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 30_000,
  })
  let screen = ''
  let seen = 0
  const waiting = [...exchanges]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    const next = waiting[0]
    if (next === undefined) return
    const at = screen.indexOf(next.awaits, seen)
    if (at === -1) return
    seen = at + next.awaits.length
    waiting.shift()
    child.stdin.write(typeof next.types === 'string' ? next.types : next.types())
  })
  await once(child, 'close')
  return { screen: screen.replaceAll('\r\n', '\n'), exitStatus: child.exitCode }
}
