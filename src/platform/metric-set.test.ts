import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetricSet } from './metric-set.ts'

const TABLE = {
  x_calls_total: { type: 'counter', unit: '', labels: { way: ['in', 'out'] }, meaning: 'Calls.' },
  x_open: { type: 'gauge', unit: '', labels: { name: 'theirs' }, meaning: 'Open.' },
  x_left: { type: 'gauge', unit: '', labels: {}, meaning: 'Left.' },
  x_wait_seconds: { type: 'histogram', unit: '', labels: {}, meaning: 'Wait.', buckets: [1, 2] },
} as const

test('[MET-2] a set has what its table has, and says it as OpenMetrics', async () => {
  const set = createMetricSet(TABLE)
  const other = createMetricSet(TABLE)
  set.add('x_calls_total', { way: 'in' })
  set.add('x_calls_total', { way: 'in' }, 2)
  set.replace('x_open', [
    { labels: { name: 'a' }, value: 1 },
    { labels: { name: 'q"\\\n' }, value: 2 },
  ])
  set.replace('x_left', [])
  set.observe('x_wait_seconds', {}, 1.5)
  assert.equal(
    (await set.render()).text,
    `# HELP x_calls Calls.
# TYPE x_calls counter
x_calls_total{way="in"} 3
x_calls_total{way="out"} 0
# HELP x_open Open.
# TYPE x_open gauge
x_open{name="a"} 1
x_open{name="q\\"\\\\\\n"} 2
# HELP x_left Left.
# TYPE x_left gauge
# HELP x_wait_seconds Wait.
# TYPE x_wait_seconds histogram
x_wait_seconds_bucket{le="1"} 0
x_wait_seconds_bucket{le="2"} 1
x_wait_seconds_bucket{le="+Inf"} 1
x_wait_seconds_sum 1.5
x_wait_seconds_count 1
# EOF
`,
  )
  set.replace('x_open', [{ labels: { name: 'b' }, value: 3 }])
  set.replace('x_left', [{ labels: {}, value: 4 }])
  const { text } = await set.render()
  assert.ok(text.includes('x_open{name="b"} 3\n') && !text.includes('name="a"'))
  assert.ok(text.includes('x_left 4\n'))
  // Two sets share nothing.
  assert.ok((await other.render()).text.includes('x_calls_total{way="in"} 0\n'))
})
