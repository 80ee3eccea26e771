import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFleetOptions } from '../../fleet/fleet-options.ts'

test('the curve goes up to the agents that are asked for', () => {
  assert.deepEqual(parseFleetOptions([])?.steps, [100, 1000])
  assert.deepEqual(parseFleetOptions(['--agents', '5000'])?.steps, [100, 1000, 5000])
  assert.deepEqual(parseFleetOptions(['--agents', '100000'])?.steps, [100, 1000, 10_000, 100_000])
  assert.deepEqual(parseFleetOptions(['--agents', '5000', '--alone'])?.steps, [5000])
})

test('a storm has one step', () => {
  const options = parseFleetOptions(['--agents', '5000', '--storm', 'renewal', '--minutes', '0.5'])
  assert.deepEqual([options?.steps, options?.storm, options?.seconds], [[5000], 'renewal', 30])
})

test('what is not an option is refused with what would be one', () => {
  const refusals = [
    [['--agents', '0'], '--agents is a number from 1 to 1000000'],
    [['--agents', 'many'], '--agents is a number from 1 to 1000000'],
    [['--storm', 'hail'], '--storm is one of restart, renewal, ca-outage, rollout'],
    [['--ca', 'vault'], '--ca is one of svc-ca, step-ca'],
  ] as const
  for (const [args, message] of refusals) {
    assert.throws(() => parseFleetOptions(args), { message })
  }
})
