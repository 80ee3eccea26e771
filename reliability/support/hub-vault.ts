// A vault and any number of hubs that are started on it, one after the other or at the same time.

import { join } from 'node:path'
import { connectToHub } from '../../src/admin/doors/socket-client.ts'
import { vaultFiles } from '../../src/hub/vault/vault-files.ts'
import { invariant } from '../../src/platform/errors.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import { initCheapVault } from '../../test/support/cheap-vault.ts'
import { type HubPorts, hubEnvironment, PASSPHRASE } from '../../test/support/hub.ts'
import {
  type RunningProgram,
  startProgram,
  type Variables,
  waitUntil,
} from '../../test/support/processes.ts'
import { prepareStore, shareAsSet } from '../../test/support/test-store.ts'

export interface HubVault extends AsyncDisposable {
  readonly root: string
  /** Starts a hub, whether or not another runs. */
  launch(): LaunchedHub
  /** The admin operations of the hub that runs. */
  admin(): Promise<AdminOperations>
}

export interface LaunchedHub {
  readonly running: RunningProgram
  /** Waits until it listens; undefined when it ends instead. */
  ports(): Promise<HubPorts | undefined>
  /** `kill -9`; resolves when it is gone. */
  kill(): Promise<void>
}

export interface HubVaultOptions {
  readonly directory: string
  readonly program: string
  readonly caEnvironment: Variables
  readonly environment?: Variables
}

const BOOT_MS_MAX = 60_000

export async function createHubVault(options: HubVaultOptions): Promise<HubVault> {
  const { directory, program } = options
  const root = join(directory, 'vault')
  const store = await prepareStore()
  await shareAsSet(await initCheapVault(root, new Secret(PASSPHRASE)), store)
  const environment = { ...store, ...hubEnvironment(root, options) }
  const launched: LaunchedHub[] = []
  return {
    root,
    launch: () => {
      const hub = watch(startProgram(program, [], environment))
      launched.push(hub)
      return hub
    },
    admin: async () => {
      const session = await connectToHub(vaultFiles(root).adminSocket)
      invariant(session, 'a hub listens')
      return session.operations
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(launched.map((hub) => hub.kill()))
    },
  }
}

function watch(running: RunningProgram): LaunchedHub {
  return {
    running,
    ports: async () => {
      const found = await waitUntil(
        'a hub to listen or to end',
        () => findPorts(running.stderr()) ?? (running.hasEnded() ? 'ended' : undefined),
        BOOT_MS_MAX,
      )
      return found === 'ended' ? undefined : found
    },
    kill: async () => {
      if (!running.hasEnded()) running.kill('SIGKILL')
      await running.ended
    },
  }
}

function findPorts(log: string): HubPorts | undefined {
  const portOf = (name: string): number | undefined => {
    const line = log.split('\n').find((entry) => entry.includes(`"msg":"${name} listening"`))
    return line === undefined || !line.endsWith('}') ? undefined : portIn(line)
  }
  const [health, enroll, mtls] = ['health', 'enroll', 'mtls'].map(portOf)
  return health === undefined || enroll === undefined || mtls === undefined
    ? undefined
    : { health, enroll, mtls }
}

function portIn(line: string): number {
  return (JSON.parse(line) as { port: number }).port
}
