import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../test/support/property.ts'
import { readLines } from './read-lines.ts'

async function linesOf(chunks: readonly Uint8Array[], lineBytesMax = 10): Promise<string[]> {
  const stream = (async function* () {
    yield* chunks
  })()
  const all: string[] = []
  for await (const lines of readLines(stream, { name: 'f', lineBytesMax })) all.push(...lines)
  return all
}

describe('readLines', () => {
  test('answers the same lines however the text is cut', async () => {
    const lines = fc.array(fc.constantFrom('', 'a', 'ç', '𝄞𝄞', '0123456789'))
    await fc.assert(
      fc.asyncProperty(lines, fc.array(fc.nat({ max: 40 })), async (expected, places) => {
        const text = Buffer.from(expected.map((line) => `${line}\n`).join(''))
        const cuts = [0, ...places.toSorted((one, other) => one - other), text.length]
        const chunks = cuts.slice(1).map((end, at) => text.subarray(cuts[at], end))
        assert.deepEqual(await linesOf(chunks), expected)
      }),
      propertyRuns(),
    )
  })

  for (const [what, chunks, message] of [
    ['a line that is too long', ['a\n', '01234567890\n'], 'f, line 2: it has more than 10 bytes'],
    [
      'a line without an end',
      ['a\nb\n0123', '456789', '0'],
      'f, line 3: it has more than 10 bytes',
    ],
    ['a last line that is not ended', ['a\nb'], 'f, line 2: it is cut off: it has no line break'],
    ['bytes that are no UTF-8', ['a\n\u00ff\n'], 'f, line 2: it is not UTF-8'],
  ] as const) {
    test(`refuses ${what}`, async () => {
      const bytes = chunks.map((chunk) => Buffer.from(chunk, 'latin1'))
      await assert.rejects(linesOf(bytes), { code: 'file_invalid', message })
    })
  }
})
