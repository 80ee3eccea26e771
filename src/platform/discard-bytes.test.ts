import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { discardBytes, discardTaken } from './discard-bytes.ts'

const MIB = 1024 * 1024

async function* makePieces(count: number): AsyncGenerator<Buffer, void> {
  for (let made = 0; made < count; made += 1) yield Buffer.alloc(MIB, made)
}

describe('discarding bytes', () => {
  test('frees each piece when its reader asks for the next, without a collection', async () => {
    const before = process.memoryUsage().arrayBuffers
    let [most, sum] = [0, 0]
    for await (const piece of discardTaken(makePieces(64))) {
      sum += piece.readUInt8(MIB - 1)
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    assert.equal(sum, (63 * 64) / 2)
    assert.ok(most < 3 * MIB, `${most} bytes at once`)
  })

  test('leaves memory that other buffers share', () => {
    const both = Buffer.from('one and another')
    discardBytes(both.subarray(0, 3))
    assert.equal(both.toString(), 'one and another')
  })
})
