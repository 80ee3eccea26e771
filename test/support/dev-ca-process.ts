// The embedded CA as a process of its own, bin/svc-ca, as its users start it.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from './free-port.ts'
import { pathOfProgram, runTool } from './processes.ts'
import { type RunningCa, startCaProcess } from './running-ca.ts'

export interface DevCaOptions {
  /** How long a certificate lives by default; `24h` unless given. */
  readonly certDuration?: string
}

const SVC_CA = pathOfProgram('svc-ca')

export async function startDevCaProcess({
  certDuration = '24h',
}: DevCaOptions = {}): Promise<RunningCa> {
  const temporary = await mkdtemp(join(tmpdir(), 'dev-ca-'))
  const directory = join(temporary, 'ca')
  const listen = `127.0.0.1:${await findFreePort()}`
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
      await rm(temporary, { recursive: true, force: true })
    },
  }
}
