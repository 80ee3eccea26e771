import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  beginStep,
  currentTrace,
  formatTraceparent,
  parseTraceparent,
  type Trace,
  withTrace,
} from './trace.ts'

const ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

describe('[LOG-10] a traceparent', () => {
  for (const [text, flags] of [
    [`00-${ID}-${SPAN}-00`, '00'],
    [`00-${ID}-${SPAN}-01`, '01'],
    // Level 2; what else the bits may come to mean is not passed on.
    [`00-${ID}-${SPAN}-03`, '03'],
    [`00-${ID}-${SPAN}-ff`, '03'],
    [`cc-${ID}-${SPAN}-01`, '01'],
    [`cc-${ID}-${SPAN}-01-what-the-future-brings`, '01'],
  ] as const) {
    test(`is ${text}`, () => {
      assert.deepEqual(parseTraceparent(text), { traceId: ID, spanId: SPAN, flags })
    })
  }

  for (const text of [
    undefined,
    '',
    '00',
    `00-${ID}-${SPAN}`,
    `00-${ID}-${SPAN}-0`,
    `00-${ID}-${SPAN}-01-more`,
    `00-${ID}-${SPAN}-01-`,
    `00-${ID}-${SPAN}-01 `,
    ` 00-${ID}-${SPAN}-01`,
    `00-${ID}-${SPAN}-01\n`,
    `ff-${ID}-${SPAN}-01`,
    `0-${ID}-${SPAN}-01`,
    `00-${ID.toUpperCase()}-${SPAN}-01`,
    `00-${ID.slice(1)}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${ID}-${'0'.repeat(16)}-01`,
    `00-${ID}-${SPAN}-0g`,
    `00_${ID}_${SPAN}_01`,
    `00-${ID}-${SPAN}-01,00-${ID}-${SPAN}-01`,
    `cc-${ID}-${SPAN}-01.x`,
    `cc-${ID}-${SPAN}-01-${'x'.repeat(300)}`,
  ]) {
    test(`is not ${JSON.stringify(text)?.slice(0, 80)}`, () => {
      assert.equal(parseTraceparent(text), undefined)
    })
  }
})

describe('[LOG-10] a step', () => {
  test('is of its caller’s trace, or of a new one that nobody records', () => {
    const caller = { traceId: ID, spanId: SPAN, flags: '01' }
    const step = beginStep(caller)
    assert.deepEqual([step.traceId, step.flags], [ID, '01'])
    assert.match(step.spanId, /^[0-9a-f]{16}$/)
    assert.notEqual(step.spanId, SPAN)
    assert.deepEqual(parseTraceparent(formatTraceparent(step)), step)
    const alone = beginStep(undefined)
    assert.match(formatTraceparent(alone), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    assert.equal(beginStep(undefined, ID).traceId, ID)
  })

  test('is known to what is done for it, and to nothing beside it', async () => {
    const traces = [beginStep(undefined), beginStep(undefined)]
    const seen = await Promise.all(
      traces.map((trace) =>
        withTrace(trace, async (): Promise<(Trace | undefined)[]> => {
          const before = currentTrace()
          await new Promise((resolve) => setImmediate(resolve))
          return [before, currentTrace()]
        }),
      ),
    )
    assert.deepEqual(
      seen,
      traces.map((trace) => [trace, trace]),
    )
    assert.equal(currentTrace(), undefined)
  })
})
