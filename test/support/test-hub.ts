// A hub in the test's own process: the real one, on ports that the system chooses, without the price of starting
// programs. What is about the process itself is for `startHubProcess`. With TEST_BIN it is a process here too, so that the
// built hub is tested.

import { readSecret } from '../../src/hub/read-secret.ts'
import { bootHere, type BootedHub } from './boot-here.ts'
import { initCheapVault } from './cheap-vault.ts'
import { startDevCa } from './dev-ca.ts'
import { createHubPlace, findPorts, type HubPorts, parseLog } from './hub.ts'
import type { TestHub, TestHubOptions } from './hub.ts'
import { createHubProcess } from './hub-process.ts'
import { isBuiltTested } from './processes.ts'
import { runSvcHere } from './run-svc.ts'
import type { RunningCa } from './running-ca.ts'
import { startStepCa } from './step-ca.ts'
import { shareAsSet } from './test-store.ts'

/** The CA that the conformance suite runs against: svc-ca, or the real thing with TEST_CA=step-ca. */
export function startTestCa(): Promise<RunningCa> {
  return process.env['TEST_CA'] === 'step-ca' ? startStepCa() : startDevCa()
}

/** A new vault and its hub, listening. */
export async function startTestHub(options: TestHubOptions): Promise<TestHub> {
  const hub = await createTestHub(options)
  try {
    await hub.start()
    return hub
  } catch (error) {
    await hub[Symbol.asyncDispose]()
    throw error
  }
}

/** A new vault, whose passphrase is cheap to try, and a hub that is not started yet. */
export async function createTestHub(options: TestHubOptions): Promise<TestHub> {
  if (isBuiltTested()) return createHubProcess(options)
  const { remove, store, ...place } = await createHubPlace(options)
  const { environment } = place
  const passphrase = readSecret(environment, 'SVC_MASTER_PASSPHRASE')
  await shareAsSet(await initCheapVault(place.vaultRoot, passphrase), store)

  let running: BootedHub | undefined
  let ports: HubPorts | undefined
  let log = ''
  const stop = async (): Promise<void> => {
    const stopped = running
    running = undefined
    await stopped?.stop()
  }
  return {
    ...place,
    get ports() {
      if (ports === undefined) throw new Error('the hub was never started')
      return ports
    },
    logText: () => log,
    logEntries: () => parseLog(log),
    start: async (extra = {}) => {
      if (running !== undefined) throw new Error('the hub runs')
      const variables = { ...environment, ...extra }
      log = ''
      running = bootHere(variables, (line) => {
        log += line
      })
      try {
        await running.booted
      } catch (error) {
        running = undefined
        throw error
      }
      ports = findPorts(log, variables)
    },
    stop: async () => {
      if (running === undefined) throw new Error('the hub does not run')
      await stop()
      return { status: 0, signal: null, stdout: '', stderr: log }
    },
    svc: (...args) => runSvcHere(args, environment),
    [Symbol.asyncDispose]: async () => {
      await stop()
      await remove()
    },
  }
}
