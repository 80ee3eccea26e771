import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeLabels, widthOfText } from './axis-labels.ts'

const HOUR_MS = 3_600_000
const EVENING_MS = Date.parse('2026-11-27T20:00:00Z')

/** As far apart as the picture of a host has the hours to come. */
function marksEvery(px: number, count: number, fromPx = 100) {
  return Array.from({ length: count }, (_, at) => {
    const time = new Date(EVENING_MS + at * HOUR_MS).toISOString()
    const [day, clock] = [time.slice(8, 10), time.slice(11, 16)]
    return { ms: Date.parse(time), x: fromPx + at * px, day, clock, withDay: `Sat ${day} ${clock}` }
  })
}

const ROOM = { left: 0, right: 1112, today: '27' }

test('a new day is said once, at its first label', () => {
  assert.deepEqual(
    placeLabels(marksEvery(68, 7), ROOM).map(({ text }) => text),
    ['20:00', '21:00', '22:00', '23:00', 'Sat 28 00:00', '01:00', '02:00'],
  )
})

for (const [px, fromPx, right] of [
  [68, 100, 1112],
  [23, 0, 334],
  [23, 200, 334],
  [9, 10, 334],
] as const) {
  test(`labels of hours that are ${px} px apart stand inside and beside each other`, () => {
    const labels = placeLabels(marksEvery(px, 12, fromPx), { ...ROOM, right })
    assert.ok(labels.length >= 2)
    assert.ok(labels.some(({ text }) => text.startsWith('Sat 28')))
    let end = 0
    for (const { x, text } of labels) {
      const half = widthOfText(text) / 2
      assert.ok(x - half >= end, `${text} from ${x - half}, after ${end}`)
      end = x + half
    }
    assert.ok(end <= right, `${end}`)
  })
}
