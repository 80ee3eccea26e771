import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { startDeadline } from './deadline.ts'

test('aborts with a TimeoutError when the time is over', async () => {
  using deadline = startDeadline(1)
  // A timer that is not waited for does not keep the process.
  const stay = setTimeout(() => undefined, 60_000)
  await once(deadline.signal, 'abort')
  clearTimeout(stay)
  assert.equal((deadline.signal.reason as Error).name, 'TimeoutError')
})

test('aborts nothing when the work was done before', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const deadline = startDeadline(1000)
  deadline[Symbol.dispose]()
  context.mock.timers.tick(2000)
  assert.equal(deadline.signal.aborted, false)
})
