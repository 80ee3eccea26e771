import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createLogging } from '../../platform/logger.ts'
import { createFloodLog, type FloodLog } from './flood-log.ts'

describe('[LOG-4] refusals', () => {
  let nowMs: number
  let level: 'info' | 'debug'
  let lines: Record<string, unknown>[]
  let write: FloodLog
  let tellTogether: (() => void) | undefined
  const start = (): void => {
    const destination = {
      write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    }
    const filter = { levelOf: () => level }
    const log = createLogging({ filter, format: 'json', destination }).forModule('test')
    tellTogether = undefined
    write = createFloodLog({
      log,
      now: () => nowMs,
      later: (work, delayMs) => {
        assert.deepEqual([tellTogether, delayMs], [undefined, 10_000])
        tellTogether = work
      },
    })
  }
  beforeEach(() => {
    nowMs = 5000
    level = 'info'
    lines = []
    start()
  })
  const refuse = (remote: string, error = 'rate_limited'): void =>
    write({ remote, error }, 'Request answered')
  const tellTogetherNow = (): void => {
    const tell = tellTogether
    tellTogether = undefined
    tell?.()
  }
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

  test('of all addresses of a /64 are those of one', () => {
    refuse('2001:db8::1')
    refuse('2001:db8::2')
    refuse('2001:db8:0:1::1')
    assert.deepEqual(
      lines.map(({ remote }) => remote),
      ['2001:db8::1', '2001:db8:0:1::1'],
    )
  })

  test('of ever new addresses are thirty lines, then one in two seconds', () => {
    for (let at = 0; at < 100; at += 1) refuse(`192.0.2.${at}`)
    assert.equal(lines.length, 30)
    for (let second = 0; second < 20; second += 1) {
      nowMs += 1000
      for (let at = 0; at < 1000; at += 1) refuse(`198.51.100.${second * 1000 + at}`)
    }
    assert.equal(lines.length, 40)
  })

  test('that found no room are told together ten seconds later, by their codes', () => {
    for (let at = 0; at < 40; at += 1) refuse(`192.0.2.${at}`)
    for (let at = 0; at < 5; at += 1) refuse('192.0.2.100', 'route_not_found')
    lines.length = 0
    tellTogetherNow()
    assert.deepEqual(
      lines.map((line) => [line['level'], line['left_out'], line['msg']]),
      [['info', { rate_limited: 10, route_not_found: 5 }, 'Refusals left out']],
    )
    refuse('192.0.2.101', 'route_not_found')
    tellTogetherNow()
    assert.deepEqual(lines[1]?.['left_out'], { route_not_found: 1 })
  })

  for (const [others, leftOut] of [
    [999, 1],
    [1000, undefined],
  ] as const) {
    test(`of an address are ${leftOut === undefined ? 'forgotten' : 'counted'} after ${others} others`, () => {
      for (const _ of [1, 2]) refuse('192.0.2.1')
      for (let at = 0; at < others; at += 1) {
        nowMs += 2000
        refuse(`address ${at}`)
      }
      nowMs += 2000
      refuse('192.0.2.1')
      assert.deepEqual(told().at(-1), ['192.0.2.1', leftOut])
    })
  }
})
