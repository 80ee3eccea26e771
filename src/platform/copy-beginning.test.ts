import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { copyBeginning } from './copy-beginning.ts'

test('the beginning of a text is as long as the text, and at most as long as it may be', () => {
  assert.equal(copyBeginning('não', 300), 'não')
  assert.equal(copyBeginning('é'.repeat(400), 300), 'é'.repeat(300))
  assert.equal(copyBeginning('a😀', 2), 'a\uFFFD')
})

test('what is kept does not hold the text that it is the beginning of', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heldBytes = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = heldBytes()
  const kept = Array.from({ length: 500 }, (_, at) =>
    copyBeginning(Buffer.alloc(60_000, `${at} of them `).toString(), 300),
  )
  const bytes = heldBytes() - before
  assert.equal(kept.length, 500)
  // The texts themselves are 30 MB.
  assert.ok(bytes < 10_000_000, `${bytes} bytes`)
})
