import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEventParser } from './event-stream.ts'

const STREAM =
  'id: 7\nevent: hello\ndata: {"seq":7}\n\n: 2026-01-01T00:00:00Z\n\nid: 8\nevent: entry\ndata: {"seq":8}\n\n'

test('messages are whole however the text is cut, and comments are none', () => {
  for (let size = 1; size <= STREAM.length; size += 1) {
    const parse = createEventParser()
    const events = []
    for (let at = 0; at < STREAM.length; at += size)
      events.push(...parse(STREAM.slice(at, at + size)))
    assert.deepEqual(events, [
      { event: 'hello', data: '{"seq":7}' },
      { event: 'entry', data: '{"seq":8}' },
    ])
  }
})

test('a message without an end is not kept for ever', () => {
  const parse = createEventParser()
  assert.throws(() => {
    for (let at = 0; at < 100; at += 1) parse('x'.repeat(1024))
  }, /has no end/)
})
