import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createLogging } from '../../platform/logger.ts'
import { createFloodLog, type FloodLog } from './flood-log.ts'

describe('[LOG-4] refusals that cost a client nothing', () => {
  let nowMs: number
  let level: 'info' | 'debug'
  let lines: Record<string, unknown>[]
  let write: FloodLog
  const start = (): void => {
    const destination = {
      write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    }
    const filter = { levelOf: () => level }
    const log = createLogging({ filter, format: 'json', destination }).forModule('test')
    write = createFloodLog({ log, now: () => nowMs })
  }
  beforeEach(() => {
    nowMs = 5000
    level = 'info'
    lines = []
    start()
  })
  const refuse = (remote: string, error = 'rate_limited'): void =>
    write({ remote, error }, 'Request answered')
  const told = (): unknown[] => lines.map(({ remote, left_out }) => [remote, left_out])

  test('are logged once in ten seconds for an address, with how many were left out', () => {
    refuse('192.0.2.1')
    refuse('192.0.2.1')
    nowMs += 9999
    refuse('192.0.2.1')
    assert.deepEqual(told(), [['192.0.2.1', undefined]])
    nowMs += 1
    refuse('192.0.2.1')
    assert.deepEqual(told(), [
      ['192.0.2.1', undefined],
      ['192.0.2.1', 2],
    ])
  })

  test('say nothing of what was left out before the line that said so', () => {
    refuse('192.0.2.1')
    refuse('192.0.2.1')
    for (const _ of [1, 2]) {
      nowMs += 10_000
      refuse('192.0.2.1')
    }
    assert.deepEqual(
      lines.map(({ left_out }) => left_out),
      [undefined, 1, undefined],
    )
  })

  test('are all there at debug', () => {
    level = 'debug'
    start()
    refuse('192.0.2.1')
    refuse('192.0.2.1')
    assert.deepEqual(
      lines.map((line) => line['level']),
      ['info', 'debug'],
    )
  })

  test('hide neither those of another address nor those with another code', () => {
    refuse('192.0.2.1')
    refuse('192.0.2.2')
    refuse('192.0.2.1', 'request_timeout')
    assert.equal(lines.length, 3)
  })

  test('tell ten thousand addresses apart, and forget the oldest', () => {
    for (let at = 0; at <= 10_000; at += 1) refuse(`address ${at}`)
    lines.length = 0
    refuse('address 1')
    refuse('address 0')
    assert.deepEqual(told(), [['address 0', undefined]])
  })
})
