// A hub on cores that it is given, whose log goes to a file: nobody who reads it can hold it up.

import { join } from 'node:path'
import { startDaemon } from '../../bench/daemon.ts'
import { connectToHub } from '../../src/admin/doors/socket-client.ts'
import { invariant } from '../../src/platform/errors.ts'
import { hubEnvironment } from '../../test/support/hub.ts'
import type { HubProcess } from '../../test/support/hub-process.ts'
import { pathOfProgram, runProgram, type Variables } from '../../test/support/processes.ts'

export interface PinnedHub extends Pick<HubProcess, 'ports' | 'createToken'>, AsyncDisposable {
  readonly pid: number
  readonly logPath: string
}

export interface PinnedHubOptions {
  readonly directory: string
  readonly caEnvironment: Variables
  readonly environment: Variables
  /** As taskset(1) writes them; undefined for those of this process. */
  readonly cores: string | undefined
}

export async function startPinnedHub(options: PinnedHubOptions): Promise<PinnedHub> {
  const vaultRoot = join(options.directory, 'vault')
  const logPath = join(options.directory, 'hub.log')
  const environment = hubEnvironment(vaultRoot, options)
  const made = await runProgram('svc', ['init'], environment)
  invariant(made.status === 0, `svc init failed: ${made.stderr}`)
  const daemon = await startDaemon({
    command: [pathOfProgram('svc-server')],
    environment,
    logPath,
    readyMessage: 'mtls listening',
    cores: options.cores,
  })
  return {
    pid: daemon.pid,
    logPath,
    ports: {
      health: daemon.portOf('health listening'),
      enroll: daemon.portOf('enroll listening'),
      mtls: daemon.portOf('mtls listening'),
    },
    createToken: async ({ role = 'web', hostname }) => {
      const session = await connectToHub(join(vaultRoot, 'admin.sock'))
      invariant(session, 'the hub answers on its socket')
      return (await session.operations.createToken({ hostname, role })).token
    },
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  }
}
