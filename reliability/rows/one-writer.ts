// Several hubs are started on one vault at the same moment: one serves, and the others say why they do not. When it is
// killed the next one starts, at once.

import { systemClock } from '../../src/platform/clock.ts'
import { describeError } from '../../src/platform/errors.ts'
import { startScriptedCa } from '../../test/support/scripted-ca.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { KnownLog } from '../support/check-writes.ts'
import { buildHubProgram } from '../support/hub-program.ts'
import { createHubVault, type HubVault, type LaunchedHub } from '../support/hub-vault.ts'

const ROUNDS = { small: 4, full: 100 } as const
const HUBS = 8
/** In every other round they start a little apart, so that they meet at other moments of their start. */
const APART_MS_MAX = 300
/** A start takes a third of a second on a machine with nothing else to do, which in small it may have. */
const RESTART_MS_MAX = { small: 30_000, full: 5000 } as const
const REFUSAL = 'svc-server: error: vault already locked: Resource temporarily unavailable\n'
const ROUNDS_BETWEEN_PROGRESS = 10

export const oneWriter: ReliabilityRow = {
  name: 'one-writer',
  promise: 'of 8 hubs on one vault one serves; after kill -9 the next start works at once',
  run: runRow,
}

async function runRow(context: RowContext): Promise<RowResult> {
  const rounds = ROUNDS[context.setting]
  await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
  const program = await buildHubProgram(context.directory)
  await using vault = await createHubVault({
    directory: context.directory,
    program,
    caEnvironment: ca.environment,
  })
  const broken: string[] = []
  const restartsMs: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const faults: string[] = []
    const { hubs, isApart } = await launchAll(vault, round, context.random)
    const served = await findServing(hubs)
    if (served.length === 1) faults.push(...(await writeThrough(vault, `crowd-${round}.example`)))
    else faults.push(`${served.length} of ${HUBS} hubs serve`)
    faults.push(...(await findRefusalFaults(hubs, served)))
    await Promise.all(served.map((hub) => hub.kill()))

    const restart = await startAlone(vault, `alone-${round}.example`)
    faults.push(...restart.faults)
    if (restart.tookMs > RESTART_MS_MAX[context.setting]) {
      faults.push(`the start after kill -9 took ${Math.round(restart.tookMs)} ms`)
    }
    restartsMs.push(restart.tookMs)
    const how = isApart ? 'a little apart' : 'at once'
    broken.push(...faults.map((fault) => `round ${round}, started ${how}: ${fault}`))
    if (round % ROUNDS_BETWEEN_PROGRESS === 0) context.progress(`${round} of ${rounds} rounds`)
  }
  broken.push(...(await findLogFaults(vault, rounds)))
  const slowestMs = Math.round(Math.max(...restartsMs))
  return {
    tried: `${rounds} rounds of ${HUBS} hubs on one vault, and ${rounds} starts right after kill -9`,
    broken,
    measured: `the slowest start after kill -9 served after ${slowestMs} ms`,
  }
}

async function launchAll(
  vault: HubVault,
  round: number,
  random: Random,
): Promise<{ hubs: LaunchedHub[]; isApart: boolean }> {
  const isApart = round % 2 === 0
  const started = Array.from({ length: HUBS }, async () => {
    if (isApart) await systemClock.sleep(random() * APART_MS_MAX)
    return vault.launch()
  })
  return { hubs: await Promise.all(started), isApart }
}

/** Waits until every one of them listens or has ended. */
async function findServing(hubs: readonly LaunchedHub[]): Promise<LaunchedHub[]> {
  const ports = await Promise.all(hubs.map((hub) => hub.ports()))
  return hubs.filter((_, index) => ports[index] !== undefined)
}

async function findRefusalFaults(
  hubs: readonly LaunchedHub[],
  served: readonly LaunchedHub[],
): Promise<string[]> {
  const faults: string[] = []
  for (const { running } of hubs.filter((hub) => !served.includes(hub))) {
    const { status, signal, stderr } = await running.ended
    if (status !== 1) faults.push(`one that does not serve ended with ${status ?? signal}`)
    if (!stderr.includes(REFUSAL)) faults.push(`one that does not serve said: ${stderr}`)
    // The lock comes before all else that touches the vault.
    if (stderr.includes('vault unsealed')) faults.push('one that does not serve opened the vault')
  }
  return faults
}

async function startAlone(
  vault: HubVault,
  hostname: string,
): Promise<{ faults: string[]; tookMs: number }> {
  const startedMs = performance.now()
  const hub = vault.launch()
  const ports = await hub.ports()
  const tookMs = performance.now() - startedMs
  const faults =
    ports === undefined
      ? [`the start after kill -9 failed: ${hub.running.stderr()}`]
      : await writeThrough(vault, hostname)
  await hub.kill()
  return { faults, tookMs }
}

/** Whoever serves is also the one on the socket, and writes. */
async function writeThrough(vault: HubVault, hostname: string): Promise<string[]> {
  try {
    const admin = await vault.admin()
    await admin.createToken({ hostname, role: 'web' })
    return []
  } catch (error) {
    return [`nothing can be written: ${describeError(error)}`]
  }
}

async function findLogFaults(vault: HubVault, rounds: number): Promise<string[]> {
  const hub = vault.launch()
  await hub.ports()
  const log = new KnownLog()
  const faults = await log.readOn(await vault.admin())
  for (let round = 1; round <= rounds; round += 1) {
    for (const hostname of [`crowd-${round}.example`, `alone-${round}.example`]) {
      const count = log.hostEntries('token_created', hostname)
      if (count !== 1) faults.push(`${count} entries of the token for ${hostname}`)
    }
  }
  await hub.kill()
  return faults
}
