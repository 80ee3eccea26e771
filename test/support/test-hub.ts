// A hub in the test's own process: the real one, on ports that the system chooses, without the price of starting
// programs. What is about the process itself is for `startHubProcess`. With TEST_BIN it is a process here too, so that the
// built hub is tested.

import { bootHub, type Hub } from '../../src/hub/boot.ts'
import { parseHubConfig, readSecret } from '../../src/hub/config.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { UserError } from '../../src/platform/errors.ts'
import { parseLogFilter } from '../../src/platform/log-filter.ts'
import { createLogging, type Logging } from '../../src/platform/logger.ts'
import { findUnknownVariables } from '../../src/protocol/variable-names.ts'
import { initCheapVault } from './cheap-vault.ts'
import { startDevCa } from './dev-ca.ts'
import { createHubPlace, findPorts, type HubPorts, parseLog } from './hub.ts'
import type { TestHub, TestHubOptions } from './hub.ts'
import { createHubProcess } from './hub-process.ts'
import { isBuiltTested, runProgram, type Variables } from './processes.ts'
import type { RunningCa } from './running-ca.ts'
import { startStepCa } from './step-ca.ts'

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
  const { remove, ...place } = await createHubPlace(options)
  const { environment } = place
  await initCheapVault(place.vaultRoot, readSecret(environment, 'SVC_MASTER_PASSPHRASE'))

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
      running = boot(variables, (line) => {
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
    svc: (...args) => runProgram('svc', args, environment),
    [Symbol.asyncDispose]: async () => {
      await stop()
      await remove()
    },
  }
}

interface BootedHub {
  readonly booted: Promise<Hub>
  stop(): Promise<void>
}

/** What src/hub/main.ts does, without what it does to its process. */
function boot(variables: Variables, onLogLine: (line: string) => void): BootedHub {
  const logging = createTestLogging(variables, onLogLine)
  const config = parseHubConfig(variables)
  const log = logging.forModule('hub.boot')
  for (const variable of findUnknownVariables(variables)) log.warn({ variable }, 'Unknown variable')
  const stopping = new AbortController()
  const booted = bootHub(config, logging, stopping.signal, systemClock)
  return {
    booted,
    stop: async () => {
      stopping.abort(new UserError('stopped', 'stopped by its test while waiting to start'))
      const hub = await booted.catch(() => undefined)
      await hub?.close()
    },
  }
}

function createTestLogging(
  { RUST_LOG: text = 'info' }: Variables,
  write: (line: string) => void,
): Logging {
  const filter = parseLogFilter(text)
  if (filter === undefined) throw new Error(`RUST_LOG is not a filter: ${text}`)
  return createLogging({ filter, format: 'json', destination: { write } })
}
