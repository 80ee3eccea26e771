// The CA, or the CA and the hub, that all tests of a file share: there before the first of them, gone after the last.

import { after, before } from 'node:test'
import { invariant } from '../../src/platform/errors.ts'
import type { TestHub, TestHubOptions } from './hub.ts'
import { type HubProcess, startHubProcess } from './hub-process.ts'
import type { Variables } from './processes.ts'
import type { RunningCa } from './running-ca.ts'
import { startTestCa, startTestHub } from './test-hub.ts'

export interface SharedCa {
  readonly ca: RunningCa
  /** A hub of a test's own, which it disposes of. */
  readonly startHub: (environment?: Variables) => Promise<TestHub>
  /** The same as a process, for what is about the process. */
  readonly startHubProcess: (environment?: Variables) => Promise<HubProcess>
}

export interface SharedHub<Hub extends TestHub = TestHub> {
  readonly ca: RunningCa
  readonly hub: Hub
}

/** Registers the hooks for a CA; what it answers is of use in tests. */
export function useCa(): SharedCa {
  const started = new AsyncDisposableStack()
  let running: RunningCa | undefined
  before(async () => {
    running = started.use(await startTestCa())
  })
  after(() => started.disposeAsync())
  const ca = standInFor(() => running)
  return {
    ca,
    startHub: (environment = {}) => startTestHub({ caEnvironment: ca.environment, environment }),
    startHubProcess: (environment = {}) =>
      startHubProcess({ caEnvironment: ca.environment, environment }),
  }
}

/**
 * Registers the hooks for a CA and a hub; what it answers is of use in tests. What else has to be there before the
 * first test is for `prepare`: a second hook would not wait for this one, since those of a file run at the same time.
 */
export function useHub(
  prepare?: (hub: TestHub) => Promise<unknown>,
  environment?: Variables,
): SharedHub {
  return share(startTestHub, prepare, environment)
}

/** The same with the hub as a process, for what is about the process. */
export function useHubProcess(
  prepare?: (hub: HubProcess) => Promise<unknown>,
  environment?: Variables,
): SharedHub<HubProcess> {
  return share(startHubProcess, prepare, environment)
}

function share<Hub extends TestHub>(
  start: (options: TestHubOptions) => Promise<Hub>,
  prepare: ((hub: Hub) => Promise<unknown>) | undefined,
  environment: Variables = {},
): SharedHub<Hub> {
  const started = new AsyncDisposableStack()
  let running: RunningCa | undefined
  let listening: Hub | undefined
  before(async () => {
    running = started.use(await startTestCa())
    listening = started.use(await start({ caEnvironment: running.environment, environment }))
    await prepare?.(listening)
  })
  after(() => started.disposeAsync())
  return { ca: standInFor(() => running), hub: standInFor(() => listening) }
}

/** A file names what a hook will have started only later, so it is looked up at each use. */
function standInFor<T extends object>(find: () => T | undefined): T {
  // The target is never read: every property is that of what was started.
  return new Proxy({} as T, {
    get: (_target, name): unknown => {
      const started = find()
      invariant(started !== undefined, 'it is there once the hooks have run')
      return Reflect.get(started, name)
    },
  })
}
