// The embedded CA, started as its users start it: bin/svc-ca in a process of its own.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from './free-port.ts'
import { pathOfProgram, runTool } from './processes.ts'
import { type RunningCa, startCaProcess } from './running-ca.ts'

export interface DevCaOptions {
  /** Where the CA lives, kept afterwards; else a temporary directory. */
  readonly directory?: string
  /** `24h` unless given. */
  readonly certDuration?: string
}

const SVC_CA = pathOfProgram('svc-ca')

export async function startDevCa(options: DevCaOptions = {}): Promise<RunningCa> {
  const temporary =
    options.directory === undefined ? await mkdtemp(join(tmpdir(), 'dev-ca-')) : undefined
  const directory = options.directory ?? join(temporary ?? '', 'ca')
  const listen = `127.0.0.1:${await findFreePort()}`
  const { certDuration = '24h' } = options
  const init = ['init', '--dir', directory, '--listen', listen, '--cert-duration', certDuration]
  // The names are those of svc-ca's own --json output.
  const environment = JSON.parse(await runTool(SVC_CA, [...init, '--json'])) as Record<
    'SVC_CA_URL' | 'SVC_CA_ROOT_CA_PATH' | 'SVC_CA_PROVISIONER_KID' | 'SVC_CA_PROVISIONER_KEY',
    string
  >
  const place = { url: environment.SVC_CA_URL, rootPath: environment.SVC_CA_ROOT_CA_PATH }
  const serve = ['serve', '--dir', directory]
  let running = await startCaProcess(SVC_CA, serve, place)
  return {
    ...place,
    provisionerKid: environment.SVC_CA_PROVISIONER_KID,
    provisionerKey: environment.SVC_CA_PROVISIONER_KEY,
    provisionerName: 'cartorio',
    environment,
    stop: () => running.stop(),
    start: async () => {
      running = await startCaProcess(SVC_CA, serve, place)
    },
    [Symbol.asyncDispose]: async () => {
      await running.stop()
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
    },
  }
}
