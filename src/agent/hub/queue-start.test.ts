import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { queueStart } from './queue-start.ts'

describe('[AGT-17] the event of a start', () => {
  test('is queued once while the same waits, and again when the host says something else', async () => {
    const waiting: { type: string; deliveryId: undefined; payload: object }[] = []
    const outbox = {
      listWaiting: () => waiting,
      enqueue: async ({ type, payload }: { type: string; payload: object }) =>
        void waiting.push({ type, deliveryId: undefined, payload }),
    }
    const start = (rack: string) => queueStart(outbox, 'web-1', new Map([['rack', rack]]))
    await start('r7')
    await start('r7')
    assert.deepEqual(
      waiting.map(({ type, payload }) => [type, payload]),
      [['agent_started', { hostname: 'web-1', labels: { rack: 'r7' } }]],
    )
    await start('r8')
    await start('r8')
    assert.equal(waiting.length, 2)
    await start('r7')
    assert.equal(waiting.length, 3)
  })
})
