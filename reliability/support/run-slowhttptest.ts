// slowhttptest, which knows nothing of our limits, against a port without TLS. Its report is clean when the service was
// available in every second of every test, and when every connection that was slow in sending was closed by the hub
// before the test's own end: that is after the limit of LIM-6 or LIM-7 and what the opening of all of them takes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SvcError } from '../../src/platform/errors.ts'
import { findTool, pathOfTool } from '../../test/support/tools.ts'

export interface SlowTestOptions {
  readonly url: string
  readonly directory: string
  /** Of each test; all of them run at the same time. */
  readonly connections: number
  /** The longest that the hub gives a request. */
  readonly requestSeconds: number
  /** How much later than that the hub may be done; so long a probe waits for its answer too. */
  readonly slackSeconds: number
}

const OPENING_SECONDS = 2
const TESTS = {
  'slow headers': { args: ['-H'], mustEnd: true },
  'slow body': { args: ['-B', '-f', 'application/json'], mustEnd: true },
  'range attack': { args: ['-R'], mustEnd: true },
  // Here the client decides when it closes: it has its answers, and only reads them slowly.
  'slow read': { args: ['-X', '-k', '10', '-n', '1', '-z', '5'], mustEnd: false },
} as const

/** Whether it is there; under CI it has to be. */
export function hasSlowhttptest(): boolean {
  const isThere = findTool('slowhttptest') !== undefined
  if (!isThere && process.env['CI'] === 'true') {
    throw new SvcError('no_slowhttptest', 'slowhttptest is needed under CI=true')
  }
  return isThere
}

/** What is not clean in the reports of all tests. */
export async function findSlowhttptestFaults(options: SlowTestOptions): Promise<string[]> {
  const names = Object.keys(TESTS) as (keyof typeof TESTS)[]
  const faults = await Promise.all(
    names.map(async (name, index) =>
      (await runTest(options, name, index)).map((fault) => `slowhttptest, ${name}: ${fault}`),
    ),
  )
  return faults.flat()
}

async function runTest(
  { url, directory, connections, requestSeconds, slackSeconds }: SlowTestOptions,
  name: keyof typeof TESTS,
  index: number,
): Promise<string[]> {
  const { args, mustEnd } = TESTS[name]
  const report = join(directory, `slowhttptest-${index}`)
  const seconds = OPENING_SECONDS + requestSeconds + (mustEnd ? slackSeconds : 0)
  const load = ['-c', connections, '-r', Math.ceil(connections / OPENING_SECONDS), '-l', seconds]
  const common = ['-i', 1, '-p', slackSeconds, '-u', url, '-g', '-o', report]
  const child = spawn(
    pathOfTool('slowhttptest'),
    [...args, ...load.map(String), ...common.map(String)],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return [
    ...faultsOfTable(await readFile(`${report}.csv`, 'utf8'), connections),
    ...(mustEnd && !output.includes('No open connections left')
      ? [`connections were still open after ${seconds} s`]
      : []),
  ]
}

/** Columns: second, closed, pending, connected, and 0 where the probe was not answered (else the height of a curve). */
export function faultsOfTable(csv: string, connections: number): string[] {
  const rows = csv.trim().split('\n').slice(1)
  const cells = rows.map((row) => row.split(',').map(Number))
  const away = cells.filter(([, , , , available = 0]) => !(available > 0))
  const openMax = Math.max(0, ...cells.map(([, closed = 0, , open = 0]) => closed + open))
  return [
    ...away
      .slice(0, 1)
      .map(([second]) => `service away ${away.length} s, first in second ${second}`),
    ...(openMax < connections / 2 ? [`only ${openMax} of ${connections} connections tried`] : []),
  ]
}
