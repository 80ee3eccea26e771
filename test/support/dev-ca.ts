// The embedded CA in the test's own process, on a port of its own; with TEST_BIN it is a process, so that the built one
// is tested.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCaDirectory, loadCaDirectory } from '../../src/dev-ca/ca-directory.ts'
import { hubSettingsOf } from '../../src/dev-ca/hub-settings.ts'
import { serveDevCa } from '../../src/dev-ca/serve.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { parseDurationMs } from '../../src/platform/durations.ts'
import { invariant } from '../../src/platform/errors.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { type DevCaOptions, startDevCaProcess } from './dev-ca-process.ts'
import { isBuiltTested } from './processes.ts'
import type { RunningCa } from './running-ca.ts'

interface Served {
  readonly url: string
  stop(): Promise<void>
}

const PROVISIONER_NAME = 'cartorio'

export async function startDevCa(options: DevCaOptions = {}): Promise<RunningCa> {
  if (isBuiltTested()) return startDevCaProcess(options)
  const certDurationMs = parseDurationMs(options.certDuration ?? '24h')
  invariant(certDurationMs !== undefined, 'a test gives a duration')
  const temporary = await mkdtemp(join(tmpdir(), 'dev-ca-'))
  const directory = join(temporary, 'ca')
  const settings = {
    name: 'Cartorio Dev',
    provisionerName: PROVISIONER_NAME,
    dnsNames: ['localhost', '127.0.0.1', '::1'],
    listen: '127.0.0.1:0',
    certDurationMs,
  }
  await createCaDirectory(directory, settings, systemClock)
  let served = await serve(directory)
  const { url } = served
  const environment = {
    ...hubSettingsOf(directory, await loadCaDirectory(directory)),
    SVC_CA_URL: url,
  }
  return {
    url,
    rootPath: environment.SVC_CA_ROOT_CA_PATH,
    provisionerKid: environment.SVC_CA_PROVISIONER_KID,
    provisionerKey: environment.SVC_CA_PROVISIONER_KEY,
    provisionerName: PROVISIONER_NAME,
    environment,
    stop: () => served.stop(),
    start: async () => {
      served = await serve(directory, new URL(url).host)
    },
    [Symbol.asyncDispose]: async () => {
      await served.stop()
      await rm(temporary, { recursive: true, force: true })
    },
  }
}

async function serve(directory: string, listen?: string): Promise<Served> {
  const logger = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('ca')
  const stopping = new AbortController()
  const { signal } = stopping
  const { url, ended } = await serveDevCa({ directory, listen, clock: systemClock, logger, signal })
  return {
    url,
    stop: () => {
      stopping.abort()
      return ended
    },
  }
}
