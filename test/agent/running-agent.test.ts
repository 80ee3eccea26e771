// A running agent, as signals and other commands reach it.

import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type AgentHost, eventually, manifestEntry } from '../support/agent-host.ts'
import { startEnrolledAgent } from '../support/enrolled-agent.ts'
import { tryLockFile } from '../../src/platform/file-lock.ts'
import { HubBudget } from '../../src/agent/hub/budget.ts'
import { RetrySchedule } from '../../src/agent/hub/backoff.ts'

test('SIGHUP makes it poll now, with the identity that is on disk by then', async () => {
  await using fixture = await startEnrolledAgent()
  const { hub, host } = fixture
  // The interval is 30 s: what comes before is the signal's doing.
  const child = host.spawn('run')
  const exited = once(child, 'exit')
  await eventually('the first poll', () => hub.requestsTo('manifest').length === 1)
  const [first] = hub.requestsTo('manifest')
  await host.enroll()
  // A signal that comes while the first round still runs is heeded after it.
  child.kill('SIGHUP')
  const second = await eventually('the second poll', () => hub.requestsTo('manifest')[1])
  assert.notEqual(second.serial, first?.serial)
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [null, 'SIGTERM'])
})

test('status shows the last errors and when it polls again', async () => {
  await using fixture = await startEnrolledAgent()
  const { hub, host } = fixture
  hub.misbehave('manifest', { kind: 'refuse', status: 503, code: 'unavailable', retryAfter: '60' })
  const child = host.spawn('run')
  const exited = once(child, 'exit')
  const status = await eventually('the status', async () => {
    const { stdout } = await host.command('status', '--json')
    const parsed = JSON.parse(stdout) as {
      state: string
      problems: string[]
      next_poll_at: string | null
    }
    return parsed.problems.length > 0 && parsed.next_poll_at !== null && parsed
  })
  assert.deepEqual(status.problems, ['the hub answered 503 unavailable'])
  assert.equal(status.state, 'valid')
  assert.ok(Date.parse(status.next_poll_at ?? '') > Date.now() + 50_000)
  child.kill('SIGTERM')
  await exited
})

test('run --once exits 1 when only a hook failed, and 0 when that is put right', async () => {
  await using fixture = await startEnrolledAgent()
  const { hub, host } = fixture
  const hook = join(host.paths.hookDir, 'post-csr-cert')
  await mkdir(host.paths.hookDir, { mode: 0o755 })
  await writeFile(hook, '#!/bin/sh\nexit 3\n', { mode: 0o755 })
  await chmod(host.paths.hookDir, 0o755)
  await chmod(hook, 0o755)
  hub.entregas = [manifestEntry()]
  const failed = await host.command('run', '--once')
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /svc-agent: error: .*post-csr-cert: exit status 3/)
  await writeFile(hook, '#!/bin/sh\nexit 0\n')
  assert.equal((await host.command('run', '--once')).status, 0)
  assert.equal(hub.requestsTo('issue').length, 1)
})

describe('check', () => {
  const cases: [title: string, lifetimeMs: number, status: number][] = [
    ['exits 1 when nothing is due', 86_400_000, 1],
    ['exits 0 when a renewal is due', 1000, 0],
    ['exits 0 for an expired identity', -1000, 0],
  ]
  for (const [title, lifetimeMs, status] of cases) {
    test(title, async () => {
      await using fixture = await startEnrolledAgent()
      await fixture.host.enroll(lifetimeMs)
      assert.equal((await fixture.host.command('check')).status, status)
    })
  }

  test('exits 255 for arguments that it does not know', async () => {
    await using fixture = await startEnrolledAgent()
    assert.equal((await fixture.host.command('check', '--nonsense')).status, 255)
  })
})

describe('a hub that says when to come back', () => {
  for (const status of [429, 503]) {
    test(`with ${status} is left alone for the rest of the round`, () => {
      const budget = new HubBudget()
      budget.noteRefusal({ ok: false, status, code: 'x', retryAfterMs: 7000 })
      assert.equal(budget.isOpen, false)
      assert.equal(budget.retryAfterMs, 7000)
    })
  }

  test('and one that does not is asked for other things', () => {
    const budget = new HubBudget()
    budget.noteRefusal({ ok: false, status: 502, code: 'ca_failed' })
    assert.equal(budget.isOpen, true)
  })
})

test('a clock that was set back does not put a retry off until it has caught up', () => {
  const retries = new RetrySchedule(() => 1)
  const noon = new Date('2026-01-01T12:00:00Z')
  retries.recordFailure('x', noon, 60_000)
  assert.equal(retries.isDue('x', noon), false)
  assert.equal(retries.isDue('x', new Date('2025-01-01T00:00:00Z')), true)
})

describe('beside a command that holds the lock', () => {
  test('[AGT-46] run waits for its end, says so once, and heeds signals meanwhile', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const lock = tryLockFile(host.paths.lockFile)
    assert.ok(lock)
    await using stopped = startRun(host)
    await eventually('it says that it waits', () => stopped.stderr().includes(WAITING))
    stopped.child.kill('SIGTERM')
    assert.deepEqual(await stopped.exited, [null, 'SIGTERM'])

    await using running = startRun(host)
    await eventually('it says that it waits', () => running.stderr().includes(WAITING))
    running.child.kill('SIGHUP')
    assert.deepEqual(hub.requests, [])
    lock.release()
    await eventually('the first poll', () => hub.requestsTo('manifest').length === 1)
    assert.equal(running.stderr().split(WAITING).length, 2)
  })

  test('[AGT-24] [AGT-46] of two that wait one runs, and the other says that it does', async () => {
    await using fixture = await startEnrolledAgent()
    const { hub, host } = fixture
    const lock = tryLockFile(host.paths.lockFile)
    assert.ok(lock)
    await using first = startRun(host)
    await using second = startRun(host)
    for (const { stderr } of [first, second]) {
      await eventually('it says that it waits', () => stderr().includes(WAITING))
    }
    lock.release()
    const [loser, winner] = await Promise.race([
      first.exited.then(() => [first, second] as const),
      second.exited.then(() => [second, first] as const),
    ])
    assert.deepEqual(await loser.exited, [1, null])
    assert.ok(
      loser
        .stderr()
        .endsWith(`svc-agent: error: another svc-agent is at work in ${host.dataDir}\n`),
    )
    await eventually('the other polls', () => hub.requestsTo('manifest').length > 0)
    assert.equal(winner.child.exitCode, null)
  })

  test('[AGT-46] status, identity and check need not wait, and disturb nothing', async () => {
    await using fixture = await startEnrolledAgent()
    const { host } = fixture
    const lock = tryLockFile(host.paths.lockFile)
    // As a write under way leaves it.
    const staged = join(host.paths.stateDir, '.processed.json.0123456789ab.tmp')
    await writeFile(staged, 'half')
    const status = await host.command('status', '--json')
    assert.equal(status.status, 0, status.stderr)
    assert.equal((JSON.parse(status.stdout) as { running: boolean }).running, false)
    assert.equal((await host.command('identity')).status, 0)
    assert.equal((await host.command('check')).status, 1)
    assert.equal(await readFile(staged, 'utf8'), 'half')
    lock?.release()
  })
})

describe('the hooks of an agent', () => {
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`[HOK-5] [HOK-8] end with it by ${signal}, before the next one runs them again`, async () => {
      await using fixture = await startEnrolledAgent()
      const { hub, host } = fixture
      await mkdir(host.paths.hookDir, { mode: 0o755 })
      await chmod(host.paths.hookDir, 0o755)
      const hook = join(host.paths.hookDir, 'post-csr-cert')
      await writeFile(hook, NOTE_WHO_ELSE_RUNS)
      await chmod(hook, 0o755)
      hub.entregas = [manifestEntry()]
      const pids = async (): Promise<string[]> => {
        const text = await host.readOut('pids').catch(() => '')
        return text.split('\n').filter((line) => line !== '')
      }
      await using first = startRun(host)
      await eventually('the hook and its child run', async () => (await pids()).length === 2)
      first.child.kill(signal)
      await using second = startRun(host)
      await eventually('they run again', async () => (await pids()).length === 4)
      assert.equal(await host.readOut('overlap').catch(() => ''), '')
      second.child.kill(signal)
      for (const pid of await pids()) {
        await eventually('it is gone', () => !isAlive(Number(pid)))
      }
    })
  }
})

const WAITING = 'Another svc-agent command is at work'

/** Notes its own process and a child of it, and whichever of those before them still run. */
const NOTE_WHO_ELSE_RUNS = `#!/bin/sh
for pid in $(cat pids 2>/dev/null); do grep -s '^State:' /proc/$pid/status | grep -v zombie >> overlap; done
sleep 600 &
echo $! >> pids
echo $$ >> pids
wait
`

interface RunningAgent extends AsyncDisposable {
  readonly child: ChildProcess
  readonly exited: Promise<unknown[]>
  readonly stderr: () => string
}

function startRun(host: AgentHost): RunningAgent {
  const child = host.spawn('run')
  const exited = once(child, 'close')
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return {
    child,
    exited,
    stderr: () => text,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
