// A start, a stop and the making of a vault, with each of their calls made to fail.

import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readEvents } from '../../../test/support/audit-log.ts'
import type { HubProcess } from '../../../test/support/hub-process.ts'
import {
  type Ended,
  pathOfProgram,
  runProgram,
  type RunningProgram,
  startProgram,
  waitUntil,
} from '../../../test/support/processes.ts'
import {
  attachStrace,
  describeFault,
  type Fault,
  type FaultCall,
  readInjected,
  straceOptions,
} from './strace.ts'
import { pathOfTool } from '../../../test/support/tools.ts'

export interface ProcessFaults {
  readonly hub: HubProcess
  readonly broken: string[]
  injected: number
}

const NTH_MAX = 500

/** Calls `attempt` with the n-th of each kind of call, every `stride`-th n, until the fault is not met any more. */
export async function failEveryCallOf(
  attempt: (fault: Fault) => Promise<boolean>,
  calls: readonly FaultCall[],
  stride: number,
): Promise<void> {
  for (const call of calls) {
    for (let nth = 1; nth < NTH_MAX; nth += stride) {
      const error = nth % 2 === 0 ? 'EIO' : 'ENOSPC'
      if (!(await attempt({ call, nth, error, isLasting: false }))) break
    }
  }
}

/** The hub was killed and has no certificate: it has a log to recover, and files to write. */
export async function failStart(run: ProcessFaults, fault: Fault): Promise<boolean> {
  const { hub } = run
  const before = (await readEvents(hub)).length
  await hub.stop('SIGKILL')
  for (const name of ['server.crt', 'server.key', 'ca.crt']) {
    await rm(join(hub.vaultRoot, name), { force: true })
  }
  const log = join(hub.directory, 'strace.log')
  const options = ['-D', ...straceOptions(fault, log), pathOfProgram('svc-server')]
  // One thread for the files: its calls are then counted as one.
  const environment = { ...hub.environment, UV_THREADPOOL_SIZE: '1' }
  const started = startProgram(pathOfTool('strace'), options, environment)
  await waitUntil('the hub to serve or to end', () => hasSettled(started))
  if (!started.hasEnded()) started.kill('SIGKILL')
  const ended = await started.ended
  if (ended.signal === null && !isClearExit(ended)) {
    run.broken.push(`start, ${describeFault(fault)}: exit ${ended.status}: ${ended.stderr}`)
  }
  const injected = (await readInjected(log)).length
  run.injected += injected
  await hub.start()
  const after = (await readEvents(hub)).length
  if (after < before)
    run.broken.push(`start, ${describeFault(fault)}: ${before - after} entries lost`)
  return injected > 0
}

function hasSettled(started: RunningProgram): true | undefined {
  return started.hasEnded() || started.stderr().includes('"msg":"mtls listening"') || undefined
}

/** Exit 1 with a message for people, and no stack. */
export function isClearExit({ status, stderr }: Ended): boolean {
  return (
    status === 1 &&
    /^svc(?:-server)?: error: .{10,}$/m.test(stderr) &&
    !stderr.includes('internal error')
  )
}

/** Stopping folds the write-ahead log into the database. */
export async function failStop(run: ProcessFaults, fault: Fault): Promise<boolean> {
  const { hub } = run
  for (let count = 0; count < 3; count += 1) {
    await hub.createToken({ hostname: `stop-${fault.call}-${fault.nth}-${count}.example` })
  }
  const before = (await readEvents(hub)).length
  const tracer = await attachStrace(hub.pid, fault, join(hub.directory, 'strace.log'))
  const ended = await hub.stop('SIGTERM')
  const injected = (await tracer.detach()).length
  run.injected += injected
  if (ended.status !== 0 && !isClearExit(ended)) {
    run.broken.push(
      `stop, ${describeFault(fault)}: ${ended.signal ?? ended.status}: ${ended.stderr}`,
    )
  }
  await hub.start()
  const after = (await readEvents(hub)).length
  if (after !== before) {
    run.broken.push(`stop, ${describeFault(fault)}: ${before} entries became ${after}`)
  }
  return injected > 0
}

/** Leaves no vault, or a whole one, and can be done again. */
export async function failInit(run: ProcessFaults, fault: Fault): Promise<boolean> {
  const { hub } = run
  const root = join(hub.directory, `vault-${fault.call}-${fault.nth}`)
  const environment = { ...hub.environment, SVC_VAULT_ROOT: root, UV_THREADPOOL_SIZE: '1' }
  const log = join(hub.directory, 'strace.log')
  const onPath = fault.call === 'write' ? { path: join(root, '.init/config.json') } : {}
  const options = [
    '-D',
    ...straceOptions({ ...fault, ...onPath }, log),
    pathOfProgram('svc'),
    'init',
  ]
  const first = await runProgram(pathOfTool('strace'), options, environment)
  const breaks = (what: string): void => {
    run.broken.push(`init, ${describeFault(fault)}: ${what}`)
  }
  if (first.status !== 0 && !isClearExit(first)) breaks(`exit ${first.status}: ${first.stderr}`)
  const injected = (await readInjected(log)).length
  run.injected += injected
  const isThere = (await readdir(root).catch((): string[] => [])).includes('config.json')
  if (first.status === 0 && !isThere) breaks('succeeded without a vault')
  const config = isThere ? await readFile(join(root, 'config.json')) : undefined
  const again = await runProgram('svc', ['init'], environment)
  if (isThere !== again.stderr.includes('vault already initialised')) {
    breaks(`done again: exit ${again.status}: ${again.stderr}`)
  }
  if (config !== undefined && !config.equals(await readFile(join(root, 'config.json')))) {
    breaks('an existing vault was touched')
  }
  const opened = await runProgram('svc', ['unseal'], environment)
  if (opened.status !== 0) breaks(`does not open: ${opened.stderr}`)
  await rm(root, { recursive: true })
  return injected > 0
}
