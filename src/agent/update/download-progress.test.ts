import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { downloadProgress } from './download-progress.ts'

describe('[UPD-7] progress', () => {
  test('is a line at every tenth where nobody watches', () => {
    const lines = shown(false, 1_000_000)
    assert.equal(lines.length, 11)
    assert.equal(lines[0], 'fetched 1 % (0.0 of 1.0 MB)\n')
    assert.equal(lines[10], 'fetched 100 % (1.0 of 1.0 MB)\n')
  })

  test('is one bar on a terminal, and ends its line', () => {
    const texts = shown(true, 1_000_000)
    assert.equal(
      texts[49],
      `\r\u001b[2K[${'#'.repeat(15)}${'.'.repeat(15)}] fetched 50 % (0.5 of 1.0 MB)`,
    )
    assert.equal(texts.at(-1), '\n')
    assert.equal(texts.filter((text) => text.includes('\n')).length, 1)
  })

  test('says how much there is so far when nobody knows how much it will be', () => {
    assert.deepEqual(shown(false, undefined), ['fetched 0.0 MB\n'])
  })
})

/** Of a megabyte that comes in a hundred pieces. */
function shown(isTerminal: boolean, totalBytes: number | undefined): string[] {
  const texts: string[] = []
  const { listen, end } = downloadProgress((text) => texts.push(text), { isTerminal })
  for (let piece = 1; piece <= 100; piece += 1) listen(piece * 10_000, totalBytes)
  end()
  return texts
}
