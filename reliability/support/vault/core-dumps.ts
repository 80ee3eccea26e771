// A hub that crashes leaves no image of its memory, even where the parent process allows that.

import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  pathOfProgram,
  startProgram,
  type Variables,
  waitUntil,
} from '../../../test/support/processes.ts'

export interface CoreDumps {
  crashes: number
  /** Whether a program that does not care does leave one here. */
  readonly othersLeaveOne: boolean
  readonly broken: string[]
}

const RAISED = 'cd "$0" && ulimit -c unlimited; exec "$@"'

export async function crashHubs(
  directory: string,
  environment: Variables,
  signals: readonly NodeJS.Signals[],
): Promise<CoreDumps> {
  const others = join(directory, 'others')
  await mkdir(others)
  const crashing = startProgram('/bin/sh', ['-c', RAISED, others, 'sh', '-c', 'kill -SEGV $$'], {})
  await crashing.ended
  const othersLeaveOne = (await readdir(others)).length > 0
  const result: CoreDumps = { crashes: 0, othersLeaveOne, broken: [] }
  for (const signal of signals) {
    await crashHub(result, join(directory, signal), environment, signal)
  }
  return result
}

async function crashHub(
  result: CoreDumps,
  place: string,
  environment: Variables,
  signal: NodeJS.Signals,
): Promise<void> {
  await mkdir(place)
  const before = await readdir(environment['SVC_VAULT_ROOT'] ?? '')
  const command = ['-c', RAISED, place, pathOfProgram('svc-server')]
  const hub = startProgram('/bin/sh', command, environment)
  await waitUntil('the hub to listen', () => {
    if (hub.hasEnded()) throw new Error(hub.stderr())
    return hub.stderr().includes('"msg":"mtls listening"') || undefined
  })
  const limits = await readFile(`/proc/${hub.pid}/limits`, 'utf8')
  if (!/^Max core file size +0 +0 /m.test(limits))
    result.broken.push(`${signal}: cores are allowed`)
  hub.kill(signal)
  const ended = await hub.ended
  result.crashes += 1
  if (ended.signal !== signal) result.broken.push(`${signal}: ended by ${ended.signal}`)
  const left = await readdir(place)
  const after = await readdir(environment['SVC_VAULT_ROOT'] ?? '')
  const known = new Set([...before, 'admin.sock', 'standby.sock', 'db.enc-wal', 'db.enc-shm'])
  left.push(...after.filter((name) => !known.has(name)))
  if (left.length > 0) result.broken.push(`${signal}: left ${left.join(', ')}`)
}
