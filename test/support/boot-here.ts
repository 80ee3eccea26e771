// What src/hub/main.ts does, in the test's own process: a hub from its variables, whose log lines go to the test.

import { bootHub, type Hub } from '../../src/hub/boot.ts'
import { parseHubConfig } from '../../src/hub/config.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { UserError } from '../../src/platform/errors.ts'
import { parseLogFilter } from '../../src/platform/log-filter.ts'
import { createLogging, type Logging } from '../../src/platform/logger.ts'
import { reportFailure } from '../../src/platform/program.ts'
import { findUnknownVariables } from '../../src/protocol/variable-names.ts'
import { type Ended, isBuiltTested, runProgram, type Variables } from './processes.ts'

export interface BootedHub {
  readonly booted: Promise<Hub>
  stop(): Promise<void>
}

export function bootHere(variables: Variables, onLogLine: (line: string) => void): BootedHub {
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

/** How svc-server ends that cannot start; one that can is an error. With TEST_BIN it is the built program. */
export async function failToStart(variables: Variables): Promise<Ended> {
  if (isBuiltTested()) return runProgram('svc-server', [], variables)
  let stderr = ''
  const write = (text: string): boolean => {
    stderr += text
    return true
  }
  try {
    const hub = bootHere(variables, write)
    await hub.booted
    await hub.stop()
  } catch (error) {
    reportFailure('svc-server', error, { write })
    return { status: 1, signal: null, stdout: '', stderr }
  }
  throw new Error(`the hub started: ${stderr}`)
}

function createTestLogging(
  { RUST_LOG: text = 'info' }: Variables,
  write: (line: string) => void,
): Logging {
  const filter = parseLogFilter(text)
  if (filter === undefined) throw new Error(`RUST_LOG is not a filter: ${text}`)
  return createLogging({ filter, format: 'json', destination: { write } })
}
