// A running agent, as signals and other commands reach it.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../../test/fakes/hub-server.ts'
import { AgentHost, eventually, manifestEntry } from '../../test/support/agent-host.ts'
import { HubBudget } from './hub-budget.ts'
import { RetrySchedule } from './backoff.ts'

interface Fixture extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
}

async function setUp(): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await host.enroll()
  return { hub, host, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('SIGHUP makes it poll now, with the identity that is on disk by then', async () => {
  await using fixture = await setUp()
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
  await using fixture = await setUp()
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
  await using fixture = await setUp()
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
      await using fixture = await setUp()
      await fixture.host.enroll(lifetimeMs)
      assert.equal((await fixture.host.command('check')).status, status)
    })
  }

  test('exits 255 for arguments that it does not know', async () => {
    await using fixture = await setUp()
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
