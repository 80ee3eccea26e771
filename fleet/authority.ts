// The CA of a fleet: svc-ca or step-ca, a process of its own that can be away for a while.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pinned, stop } from '../bench/daemon.ts'
import { binary } from '../bench/world.ts'
import { systemClock } from '../src/platform/clock.ts'
import { UserError } from '../src/platform/errors.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { runTool } from '../test/support/processes.ts'
import { isCaHealthy } from '../test/support/running-ca.ts'
import { configureStepCa } from '../test/support/step-ca.ts'
import type { AuthorityName } from './fleet-options.ts'

export interface Authority extends AsyncDisposable {
  /** While it runs. */
  readonly pid: number
  readonly url: string
  readonly rootPath: string
  /** Where the intermediate is, with its key. */
  readonly issuerDirectory: string
  /** What a hub needs to know of it. */
  readonly environment: Readonly<Record<string, string>>
  start(): Promise<void>
  stop(): Promise<void>
}

interface Configured {
  readonly command: readonly [string, ...string[]]
  readonly url: string
  readonly rootPath: string
  readonly issuerDirectory: string
  readonly environment: Readonly<Record<string, string>>
}

const HEALTHY_MS_MAX = 30_000
const POLL_MS = 50

/** In a directory below the given one; it does not run yet. */
export async function configureAuthority(
  name: AuthorityName,
  directory: string,
  cores: string | undefined,
): Promise<Authority> {
  const configured = await (name === 'svc-ca' ? configureSvcCa : configureStep)(
    join(directory, 'ca'),
  )
  const { url, rootPath } = configured
  let child: ChildProcess | undefined
  const authority: Authority = {
    ...configured,
    get pid() {
      return child?.pid ?? 0
    },
    async start() {
      const [program, ...args] = pinned(configured.command, cores)
      child = spawn(program, args, { stdio: 'ignore' })
      await waitUntilHealthy(url, await readFile(rootPath, 'utf8'), child)
    },
    async stop() {
      if (child !== undefined) await stop(child)
    },
    [Symbol.asyncDispose]: () => authority.stop(),
  }
  return authority
}

async function configureSvcCa(directory: string): Promise<Configured> {
  const program = binary('svc-ca')
  const listen = `127.0.0.1:${await findFreePort()}`
  const init = ['init', '--dir', directory, '--listen', listen, '--cert-duration', '24h', '--json']
  const environment = JSON.parse(await runTool(program, init)) as Record<
    'SVC_CA_URL' | 'SVC_CA_ROOT_CA_PATH',
    string
  >
  return {
    command: [program, 'serve', '--dir', directory],
    url: environment.SVC_CA_URL,
    rootPath: environment.SVC_CA_ROOT_CA_PATH,
    issuerDirectory: directory,
    environment,
  }
}

async function configureStep(directory: string): Promise<Configured> {
  const { program, args, url, rootPath, environment } = await configureStepCa(directory)
  const issuerDirectory = join(directory, 'pki')
  return { command: [program, ...args], url, rootPath, issuerDirectory, environment }
}

async function waitUntilHealthy(url: string, rootPem: string, child: ChildProcess): Promise<void> {
  for (let waitedMs = 0; waitedMs < HEALTHY_MS_MAX; waitedMs += POLL_MS) {
    if (await isCaHealthy(url, rootPem)) return
    if (child.exitCode !== null) break
    await systemClock.sleep(POLL_MS)
  }
  throw new UserError('fleet', 'the CA did not start')
}
