import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { array, assert as assertProperty, nat, property } from 'fast-check'
import { EventStreamParser, type StreamMessage } from './parse-event-stream.ts'

const TEXT =
  ':\n\nid: a.0\nevent: manifest\ndata: {}\n\n: still here\nid: b.1\r\nevent:rotate\r\ndata\r\n\r\n'
const MESSAGES: StreamMessage[] = [
  { event: 'manifest', id: 'a.0', data: '{}' },
  { event: 'rotate', id: 'b.1', data: '' },
]

describe('the parser of the stream', () => {
  test('[PSH-4] reads messages, however the text is cut', () => {
    assertProperty(
      property(array(nat(TEXT.length)), (cuts) => {
        const ends = [...cuts.toSorted((a, b) => a - b), TEXT.length]
        const parser = new EventStreamParser()
        const found = ends.flatMap((end, index) =>
          parser.push(TEXT.slice(ends[index - 1] ?? 0, end)),
        )
        assert.deepEqual(found, MESSAGES)
      }),
    )
  })

  for (const [what, text, expected] of [
    ['without data is none', 'event: manifest\n\n', []],
    [
      'without a name is a message',
      'data: x\n\n',
      [{ event: 'message', id: undefined, data: 'x' }],
    ],
    ['that is not over is none', 'event: manifest\ndata: x\n', []],
    [
      'without an id has the last one',
      'id: a\ndata: x\n\nevent: rotate\ndata: x\n\n',
      [
        { event: 'message', id: 'a', data: 'x' },
        { event: 'rotate', id: 'a', data: 'x' },
      ],
    ],
    [
      'has all lines of its data',
      'data: x\ndata:y\n\n',
      [{ event: 'message', id: undefined, data: 'x\ny' }],
    ],
    [
      'with an id that fits into no header has none',
      `id: a b\ndata: x\n\nid: ${'a'.repeat(300)}\ndata: x\n\n`,
      [
        { event: 'message', id: undefined, data: 'x' },
        { event: 'message', id: undefined, data: 'x' },
      ],
    ],
  ] as const) {
    test(`a message ${what}`, () => {
      assert.deepEqual(new EventStreamParser().push(text), expected)
    })
  }

  test('[PSH-18] refuses a line without end, whether it ends or not', () => {
    const line = `: ${'x'.repeat(5000)}`
    assert.throws(() => new EventStreamParser().push(line), /more than 4096 characters/)
    assert.throws(() => new EventStreamParser().push(`${line}\n`), /more than 4096 characters/)
    const parser = new EventStreamParser()
    assert.throws(() => {
      for (;;) parser.push('x'.repeat(100))
    }, /more than 4096 characters/)
  })

  test('[PSH-18] refuses a message without end', () => {
    const parser = new EventStreamParser()
    assert.throws(() => {
      for (;;) parser.push(`data: ${'x'.repeat(100)}\n`)
    }, /more than 16384 characters/)
  })
})
