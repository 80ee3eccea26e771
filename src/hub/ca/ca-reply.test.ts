import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOfReply } from './ca-reply.ts'

/** As much as the hub reads of a reply. */
const LENGTH_MAX = 256 * 1024
const CPU_MS_MAX = 2000

for (const [what, message] of [
  ['one endless word', 'A'.repeat(LENGTH_MAX)],
  ['two', `${'A'.repeat(LENGTH_MAX / 2)}.${'A'.repeat(LENGTH_MAX / 2)}`],
  ['words and dots', `${'A'.repeat(10)}.`.repeat(LENGTH_MAX / 11)],
  ['what begins like tokens', 'hvs.'.repeat(LENGTH_MAX / 4)],
] as const) {
  test(`[CAX-12] a reply of ${what} keeps nobody waiting`, () => {
    const before = process.cpuUsage()
    const { message: shown } = failureOfReply(
      { status: 400, body: JSON.stringify({ message }) },
      'sign',
    )
    const { user, system } = process.cpuUsage(before)
    assert.ok((user + system) / 1000 < CPU_MS_MAX, `${(user + system) / 1000} ms of CPU`)
    assert.ok(shown.length < 300)
  })
}

test('[CAX-11] tokens are redacted wherever they stand, and before the excerpt is cut', () => {
  const jwt = `${'h'.repeat(40)}.${'p'.repeat(90)}.${'s'.repeat(86)}`
  for (const [before, after] of [
    ['', ''],
    ['token=', '!'],
    ['x.', ''],
    ['é', 'é'],
    ['x'.repeat(190) + ' ', ''],
  ] as const) {
    for (const token of [jwt, `hvs.${'x'.repeat(30)}`]) {
      const { message } = failureOfReply(
        { status: 400, body: JSON.stringify({ message: before + token + after }) },
        'sign',
      )
      assert.doesNotMatch(message, /hhhh|pppp|ssss|xxxxxxxxxxxxxxxxxxxxxxxxxxxxx$/)
    }
  }
})
