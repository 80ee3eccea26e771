import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ProgressLine } from './progress.ts'

const LINE_START = '\r\u001b[2K'

function createLine(): {
  line: ProgressLine
  written: string[]
  pass: (durationMs: number) => void
} {
  const written: string[] = []
  let nowMs = 5000
  const clock = { now: () => new Date(nowMs), sleep: () => Promise.resolve() }
  return {
    line: new ProgressLine((text) => written.push(text), clock),
    written,
    pass: (durationMs) => {
      nowMs += durationMs
    },
  }
}

describe('ProgressLine', () => {
  test('says nothing of work that takes less than a second', () => {
    const { line, written, pass } = createLine()
    line.show('0')
    pass(999)
    line.show('1')
    line.clear()
    assert.deepEqual(written, [])
  })

  test('writes over its own line, at most five times a second, and leaves nothing behind', () => {
    const { line, written, pass } = createLine()
    for (const text of ['0', '1', '2']) {
      line.show(text)
      line.show(`${text} again`)
      pass(1000)
    }
    line.clear()
    line.clear()
    assert.deepEqual(written, [`${LINE_START}1`, `${LINE_START}2`, LINE_START])
  })

  test('waits a second again after it was cleared', () => {
    const { line, written, pass } = createLine()
    line.show('0')
    pass(1000)
    line.clear()
    line.show('1')
    assert.deepEqual(written, [])
  })
})
