// The fleet runs, as small as it can be: that it measures anything rightly is for its figures to show.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type RunningProgram, startTool, waitUntil } from '../support/processes.ts'
import { withTools } from '../support/tools.ts'

const NODE = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const FLEET = fileURLToPath(new URL('../../fleet/fleet.ts', import.meta.url))

let temporary: string

before(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'run-fleet-'))
})
after(() => rm(temporary, { recursive: true }))

function startFleet(...args: readonly string[]): RunningProgram {
  const variables = [`TMPDIR=${temporary}`, `HOME=${homedir()}`]
  const command = [NODE, FLEET, '--agents', '20', '--polls-seconds', '1', ...args]
  return startTool('env', [...variables, ...command])
}

describe('the fleet', withTools('go', 'taskset'), () => {
  test('runs twenty agents that enrol, hold streams and poll, without an error', async () => {
    const { status, stdout, stderr } = await startFleet('--minutes', '0.05').ended
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^20 +all +\d+ +40 +20 /m)
    assert.match(stdout, /^ {2}poll: \d+, p50 /m)
    assert.match(stdout, /^ {2}no errors$/m)
    assert.deepEqual(await leftBehind(), [])
  })

  test('survives a restart with new hosts, each with its one token', async () => {
    const { status, stdout, stderr } = await startFleet('--storm', 'restart').ended
    assert.equal(status, 0, stderr)
    assert.match(stdout, /21 of 21 agents served/)
    assert.match(stdout, /reached 1 hosts enrolled meanwhile, 0 need a second token/)
    assert.match(stdout, /reached tokens used twice: 0/)
  })

  test('leaves nothing behind when it is interrupted', async () => {
    const fleet = startFleet()
    await waitUntil('agents', () => fleet.stderr().includes('20 agents start') || undefined)
    fleet.kill('SIGINT')
    assert.equal((await fleet.ended).status, 130)
    assert.deepEqual(await leftBehind(), [])
  })
})

async function leftBehind(): Promise<string[]> {
  return (await readdir(temporary)).filter((name) => name.startsWith('cartorio-fleet-'))
}
