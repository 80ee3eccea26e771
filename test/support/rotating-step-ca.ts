// The real step-ca, whose root and intermediate are replaced while it keeps its address and its provisioner.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCaDirectory, rootPathOf } from '../../src/dev-ca/ca-directory.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { startCaProcess } from './running-ca.ts'
import { configureStepCa, type StepCaOptions } from './step-ca.ts'

export interface RotatingStepCa extends AsyncDisposable {
  /** All but SVC_CA_ROOT_CA_PATH. */
  readonly environment: Readonly<Record<string, string>>
  /** Of the root that it signs by now. */
  rootPem(): Promise<string>
  /** The next root, which it does not use before `switchRoot`. */
  makeNextRoot(): Promise<string>
  switchRoot(): Promise<void>
}

export async function startRotatingStepCa(
  directory: string,
  options: StepCaOptions = {},
): Promise<RotatingStepCa> {
  const { program, args, url, environment, rootPath } = await configureStepCa(directory, options)
  const next = join(directory, 'next')
  const nextRootPath = rootPathOf(next)
  let current = rootPath
  let running = await startCaProcess(program, args, { url, rootPath })
  return {
    environment,
    rootPem: () => readFile(current, 'utf8'),
    makeNextRoot: async () => {
      const { host: listen } = new URL(url)
      const dnsNames = ['localhost', '127.0.0.1']
      const settings = { name: 'next', provisionerName: 'unused', dnsNames, listen }
      await createCaDirectory(next, { ...settings, certDurationMs: 0 }, systemClock)
      return readFile(nextRootPath, 'utf8')
    },
    switchRoot: async () => {
      await running.stop()
      const path = join(directory, 'ca.json')
      const configuration = JSON.parse(await readFile(path, 'utf8')) as object
      const signer = {
        root: nextRootPath,
        crt: join(next, 'intermediate.crt'),
        key: join(next, 'intermediate.key'),
      }
      await writeFile(path, JSON.stringify({ ...configuration, ...signer }, null, 2))
      current = nextRootPath
      running = await startCaProcess(program, args, { url, rootPath: nextRootPath })
    },
    [Symbol.asyncDispose]: () => running.stop(),
  }
}
