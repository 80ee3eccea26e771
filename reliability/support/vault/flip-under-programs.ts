// The same damage under the programs themselves: what they print, how they end, and that they rewrite nothing.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { invariant } from '../../../src/platform/errors.ts'
import {
  runProgram,
  startProgram,
  type Ended,
  type Variables,
  waitUntil,
} from '../../../test/support/processes.ts'

export interface ProgramDamage {
  runs: number
  readonly broken: string[]
}

const FILES = ['config.json', 'db.enc', 'audit.head'] as const

/** One byte at this place of the file, from 0 to 1; the vault is as it was afterwards. */
export async function flipUnderPrograms(
  result: ProgramDamage,
  { root }: UnsealedVault,
  environment: Variables,
  { file, place }: { readonly file: 'config.json' | 'db.enc'; readonly place: number },
): Promise<void> {
  const originals = FILES.map((name) => [join(root, name), readFileSync(join(root, name))] as const)
  const target = originals.find(([path]) => path === join(root, file))
  invariant(target !== undefined, 'the file is one of those')
  const damaged = Buffer.from(target[1])
  const offset = Math.floor(place * damaged.length)
  damaged[offset] = (damaged[offset] ?? 0) ^ 1
  writeFileSync(target[0], damaged)
  const breaks = (what: string): void => {
    result.broken.push(`${file}, byte ${offset}, ${what}`)
  }
  const requireUntouched = (program: string): void => {
    for (const [path, bytes] of originals) {
      const expected = path === target[0] ? damaged : bytes
      if (!readFileSync(path).equals(expected)) breaks(`${program} rewrote ${path}`)
    }
  }
  const unsealed = await runProgram('svc', ['unseal'], environment)
  if (!isClear(unsealed, 'svc', file)) breaks(`svc unseal: ${unsealed.status}: ${unsealed.stderr}`)
  requireUntouched('svc unseal')
  const served = await startOrEnd(environment)
  if (served !== undefined) {
    if (!isClear(served, 'svc-server', file)) {
      breaks(`svc-server: ${served.status}: ${served.stderr}`)
    }
    requireUntouched('svc-server')
  }
  result.runs += 2
  for (const suffix of ['-wal', '-shm']) rmSync(join(root, `db.enc${suffix}`), { force: true })
  for (const [path, bytes] of originals) writeFileSync(path, bytes)
}

/** How it ended; undefined when it served, as it may where it needs none of what is damaged. */
async function startOrEnd(environment: Variables): Promise<Ended | undefined> {
  const hub = startProgram('svc-server', [], environment)
  const isServing = await waitUntil('the hub to serve or to end', () => {
    if (hub.hasEnded()) return 'no'
    return hub.stderr().includes('"msg":"mtls listening"') ? 'yes' : undefined
  }).finally(() => hub.kill('SIGKILL'))
  const ended = await hub.ended
  return isServing === 'yes' ? undefined : ended
}

function isClear({ status, stderr }: Ended, program: string, file: string): boolean {
  const line = stderr.split('\n').find((text) => text.startsWith(`${program}: error: `)) ?? ''
  return status === 1 && line.includes(file) && !stderr.includes('internal error')
}
