import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../platform/clock.ts'
import { SvcError } from '../../platform/errors.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import type { AdminSession } from './admin-session.ts'
import { connect } from './connect.ts'
import type { Progress } from '../terminal/progress.ts'

// Nobody calls an operation here; only which session comes back matters.
const operations = {} as AdminOperations
const openBackup = (): Promise<never> => Promise.reject(new Error('not asked for'))
const close = (): Promise<void> => Promise.resolve()
const direct: AdminSession = { operations, isThroughHub: false, openBackup, close }
const throughHub: AdminSession = { operations, isThroughHub: true, openBackup, close }

/** A clock that only moves when someone sleeps. */
function createFakeClock(): Clock & { elapsedMs(): number } {
  let nowMs = 0
  return {
    now: () => new Date(nowMs),
    sleep: async (durationMs) => {
      nowMs += durationMs
    },
    elapsedMs: () => nowMs,
  }
}

const silent: Progress = { show: () => undefined, clear: () => undefined }

describe('connect', () => {
  test('[CLI-18] goes through the hub that answers, at once, without a look at the vault', async () => {
    const clock = createFakeClock()
    const doors = {
      connectToHub: async () => throughHub,
      openVault: () => assert.fail('not asked'),
    }
    assert.equal(await connect(doors, '/vault', clock, silent), throughHub)
    assert.equal(clock.elapsedMs(), 0)
  })

  test('[CLI-18] opens the vault itself when no hub answers, at once', async () => {
    const clock = createFakeClock()
    const doors = { connectToHub: async () => undefined, openVault: async () => direct }
    assert.equal(await connect(doors, '/vault', clock, silent), direct)
    assert.equal(clock.elapsedMs(), 0)
  })

  test('opens the vault behind a socket that it may not use, and says so when the vault is held', async () => {
    const refused = new SvcError('permission_denied', 'not for you')
    const connectToHub = () => Promise.reject(refused)
    const free = { connectToHub, openVault: async () => direct }
    assert.equal(await connect(free, '/vault', createFakeClock(), silent), direct)
    const held = { connectToHub, openVault: async () => undefined }
    await assert.rejects(connect(held, '/vault', createFakeClock(), silent), refused)
  })

  test('says why the vault cannot be opened, and not why the socket cannot', async () => {
    const missing = new SvcError('vault_missing', 'no vault')
    const doors = {
      connectToHub: () => Promise.reject(new Error('no directory')),
      openVault: () => Promise.reject(missing),
    }
    await assert.rejects(connect(doors, '/vault', createFakeClock(), silent), missing)
  })

  test('[CLI-18] goes through a hub that took the vault between the two looks', async () => {
    const clock = createFakeClock()
    const connectToHub = async () => (clock.elapsedMs() === 0 ? undefined : throughHub)
    const doors = { connectToHub, openVault: async () => undefined }
    assert.equal(await connect(doors, '/vault', clock, silent), throughHub)
    assert.equal(clock.elapsedMs(), 100)
  })

  test('[CLI-18] waits for a hub that is still starting', async () => {
    const clock = createFakeClock()
    const connectToHub = async () => (clock.elapsedMs() >= 9000 ? throughHub : undefined)
    const doors = { openVault: async () => undefined, connectToHub }
    assert.equal(await connect(doors, '/vault', clock, silent), throughHub)
  })

  test('takes the vault as soon as another command lets go of it', async () => {
    const clock = createFakeClock()
    const openVault = async () => (clock.elapsedMs() >= 500 ? direct : undefined)
    const doors = { openVault, connectToHub: async () => undefined }
    assert.equal(await connect(doors, '/vault', clock, silent), direct)
  })

  test('says that it waits, and no more once it has what it waits for', async () => {
    const clock = createFakeClock()
    const said: string[] = []
    const progress = { show: (text: string) => said.push(text), clear: () => said.push('') }
    const openVault = async () => (clock.elapsedMs() >= 200 ? direct : undefined)
    const doors = { openVault, connectToHub: async () => undefined }
    await connect(doors, '/vault', clock, progress)
    const waiting = 'waiting for the program that holds the vault at /vault'
    assert.deepEqual(said, [waiting, waiting, ''])
  })

  test('[CLI-18] gives up after ten seconds', async () => {
    const clock = createFakeClock()
    const doors = { openVault: async () => undefined, connectToHub: async () => undefined }
    await assert.rejects(connect(doors, '/vault', clock, silent), (error) => {
      assert.ok(error instanceof SvcError)
      assert.equal(error.code, 'vault_busy')
      assert.match(error.message, /^the vault at \/vault is locked, and no hub answers/)
      return true
    })
    assert.equal(clock.elapsedMs(), 10_000)
  })
})
