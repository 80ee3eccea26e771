// Ctrl-C during a command for many hosts, as a process of its own hears it.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startProgram, waitUntil } from '../support/processes.ts'

/** proc_pid_status(5): a mask in which signal n is bit n - 1. */
async function hasHandler(pid: number, signal: 'SIGINT'): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const mask = BigInt(`0x${/^SigCgt:\s*(\w+)$/m.exec(status)?.[1] ?? '0'}`)
  return (mask & (1n << BigInt(constants.signals[signal] - 1))) !== 0n
}

test('[CLI-61] svc that is interrupted ends at once by a second signal, also one of another kind', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'interrupted-'))
  let asked = 0
  // A hub that never answers.
  const hub = createServer(() => void (asked += 1))
  hub.listen(join(directory, 'admin.sock'))
  await once(hub, 'listening')
  const names = Array.from({ length: 9 }, (_, index) => `web-${index}\n`).join('')
  const environment = { SVC_VAULT_ROOT: directory }
  const svc = startProgram('svc', ['agent', 'sync', '--file', '-'], environment, names)
  try {
    await waitUntil('four requests', () => {
      if (svc.hasEnded()) assert.fail(`svc ended: ${svc.stderr()}`)
      return asked === 4 || undefined
    })
    svc.kill('SIGINT')
    await waitUntil('SIGINT to be heard', async () => {
      if (svc.hasEnded()) assert.fail(`svc ended: ${svc.stderr()}`)
      return !(await hasHandler(svc.pid, 'SIGINT')) || undefined
    })
    svc.kill('SIGTERM')
    await waitUntil('the end', () => svc.hasEnded() || undefined)
    const { status, signal } = await svc.ended
    assert.deepEqual([status, signal, asked], [null, 'SIGTERM', 4])
  } finally {
    svc.kill('SIGKILL')
    hub.closeAllConnections()
    hub.close()
    await rm(directory, { recursive: true })
  }
})
