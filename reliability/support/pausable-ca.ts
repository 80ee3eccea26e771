// A CA that can be made to stand still: it takes connections, as the kernel does for it, and answers nothing.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../../test/support/free-port.ts'
import {
  pathOfProgram,
  runTool,
  startProgram,
  type Variables,
  waitUntil,
} from '../../test/support/processes.ts'
import { isCaHealthy } from '../../test/support/running-ca.ts'

export interface PausableCa extends AsyncDisposable {
  /** The four SVC_CA_* variables of a hub. */
  readonly environment: Variables
  pause(): void
  resume(): void
}

export async function startPausableCa(directory: string): Promise<PausableCa> {
  const place = join(directory, 'ca')
  const listen = `127.0.0.1:${await findFreePort()}`
  const init = ['init', '--dir', place, '--listen', listen, '--json']
  // The names are those of svc-ca's own --json output.
  const environment = JSON.parse(await runTool(pathOfProgram('svc-ca'), init)) as Record<
    'SVC_CA_URL' | 'SVC_CA_ROOT_CA_PATH',
    string
  >
  const running = startProgram('svc-ca', ['serve', '--dir', place], {})
  const end = async (): Promise<void> => {
    running.kill('SIGKILL')
    await running.ended
  }
  try {
    const rootPem = await readFile(environment.SVC_CA_ROOT_CA_PATH, 'utf8')
    await waitUntil('the CA to be healthy', async () => {
      if (running.hasEnded()) throw new Error(`svc-ca ended: ${running.stderr()}`)
      return (await isCaHealthy(environment.SVC_CA_URL, rootPem)) ? true : undefined
    })
  } catch (error) {
    await end()
    throw error
  }
  return {
    environment,
    pause: () => running.kill('SIGSTOP'),
    resume: () => running.kill('SIGCONT'),
    [Symbol.asyncDispose]: end,
  }
}
