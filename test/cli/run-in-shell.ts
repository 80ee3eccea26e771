// A line of shell with `svc` on its PATH: the program itself, or a stub that has the test run svc in its own process.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { passedOnEnvironment } from '../support/passed-on.ts'
import { runSvcHere } from '../support/run-svc.ts'
import type { Variables } from '../support/processes.ts'

const BIN = fileURLToPath(new URL('../../bin', import.meta.url))
const STUB = fileURLToPath(new URL('desk', import.meta.url))
const COMMAND_TIMEOUT_MS = 60_000

export interface Outcome {
  readonly stdout: string
  readonly stderr: string
  readonly exitStatus: number
}

export type RunInShell = (command: string, env: Variables) => Promise<Outcome>

/** Each svc is a process, as an operator's are. */
export const runInShell: RunInShell = (command, env) => runShell(command, BIN, env)

/** Each svc runs in this process: a tenth of the CPU. */
export const runInShellHere: RunInShell = async (command, env) => {
  const desk = await mkdtemp(join(tmpdir(), 'svc-desk-'))
  try {
    return await runShell(command, STUB, { ...env, SVC_DESK: desk })
  } finally {
    await rm(desk, { recursive: true })
  }
}

async function runShell(command: string, programs: string, env: Variables): Promise<Outcome> {
  const passedOn = passedOnEnvironment()
  const child = spawn('sh', ['-c', command], {
    env: { ...passedOn, PATH: `${programs}:${passedOn.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: COMMAND_TIMEOUT_MS,
  })
  const [, out, err, calls] = child.stdio as unknown as readonly [
    null,
    Readable,
    Readable,
    Readable,
  ]
  const [stdout, stderr] = await Promise.all([
    text(out),
    text(err),
    answerCalls(calls),
    once(child, 'close'),
  ])
  if (child.exitCode === null) throw new Error(`no exit status: ${command}`)
  return { stdout, stderr, exitStatus: child.exitCode }
}

async function answerCalls(calls: Readable): Promise<void> {
  const answers: Promise<void>[] = []
  for await (const call of createInterface(calls)) answers.push(answerCall(call))
  await Promise.all(answers)
}

async function answerCall(call: string): Promise<void> {
  const [args, env] = await Promise.all([readWords(`${call}/args`), readWords(`${call}/env`)])
  const variables = Object.fromEntries(
    env.map((variable) => [variable.split('=', 1)[0], variable.slice(variable.indexOf('=') + 1)]),
  ) as Variables
  const ended = await runSvcHere(args, variables, await readFile(`${call}/stdin`))
  await writeFile(`${call}/stdout`, ended.stdout)
  await writeFile(`${call}/stderr`, ended.stderr)
  await writeFile(`${call}/status`, `${ended.status}\n`)
}

async function readWords(path: string): Promise<string[]> {
  return (await readFile(path, 'utf8')).split('\0').slice(0, -1)
}
