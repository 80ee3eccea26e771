import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { shrinkPng } from './shrink-png.ts'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  data.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}

/** Of three colours a pixel, in two rows, each with the filter that its first byte names. */
function makePng(width: number, rows: readonly (readonly number[])[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(rows.length, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function dataOf(png: Buffer, wanted: string): Buffer {
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === wanted)
      return png.subarray(at + 8, at + 8 + length)
    at += 12 + length
  }
  throw new Error(`no ${wanted}`)
}

test('each pixel keeps its colour, whatever the filter of its row', () => {
  const [red, blue] = [
    [200, 10, 20],
    [10, 20, 250],
  ] as const
  const minus = (a: readonly number[], b: readonly number[]): number[] =>
    a.map((one, at) => (one - (b[at] ?? 0)) & 0xff)
  const png = makePng(2, [
    [0, ...red, ...blue],
    [1, ...red, ...minus(blue, red)],
    [2, ...minus(blue, red), ...minus(red, blue)],
    [
      3,
      ...minus(
        red,
        blue.map((one) => one >> 1),
      ),
      ...minus(red, red),
    ],
    [4, ...minus(blue, red), ...minus(blue, blue)],
  ])
  const small = shrinkPng(png)
  const palette = dataOf(small, 'PLTE')
  const rows = inflateSync(dataOf(small, 'IDAT'))
  const colourAt = (x: number, y: number): number[] => {
    const index = rows[y * 3 + 1 + x] ?? 0
    return [...palette.subarray(index * 3, index * 3 + 3)]
  }
  assert.deepEqual([colourAt(0, 0), colourAt(1, 0)], [[...red], [...blue]])
  assert.deepEqual([colourAt(0, 1), colourAt(1, 1)], [[...red], [...blue]])
  assert.deepEqual([colourAt(0, 2), colourAt(1, 2)], [[...blue], [...red]])
  assert.deepEqual([colourAt(0, 3), colourAt(1, 3)], [[...red], [...red]])
  assert.deepEqual([colourAt(0, 4), colourAt(1, 4)], [[...blue], [...blue]])
})

test('a colour of a state keeps its place beside hundreds of greys that are more frequent', () => {
  const greys = Array.from({ length: 600 }, (_, at) => {
    const grey = 20 + (at >> 1)
    return [grey & 0xff, grey & 0xff, (grey + (at & 1)) & 0xff]
  })
  const png = makePng(1201, [[0, ...greys.flat(), ...greys.flat(), 200, 10, 20]])
  assert.ok(dataOf(shrinkPng(png), 'PLTE').includes(Buffer.from([200, 10, 20])))
})

test('colours over 256 become the nearest one', () => {
  const grey = Array.from({ length: 256 }, (_, at) => [at, at, at]).flat()
  // Each grey twice, so that it is more frequent than the colour that has no place.
  const png = makePng(257, [
    [0, ...grey, 0, 0, 0],
    [0, ...grey, 250, 250, 251],
  ])
  const small = shrinkPng(png)
  const rows = inflateSync(dataOf(small, 'IDAT'))
  const index = rows.at(-1) ?? 0
  assert.deepEqual([...dataOf(small, 'PLTE').subarray(index * 3, index * 3 + 3)], [250, 250, 250])
})
