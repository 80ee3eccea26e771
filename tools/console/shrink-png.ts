// A picture of a screen with a palette of 256 colours, a third of its size: letters and lines have few colours, and what has
// none of its own gets the nearest one.

import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { invariant } from '../../src/platform/errors.ts'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const COLOURS_MAX = 256
/** Colours that differ in the low bits alone are in one corner. */
const CORNER = 0xf0f0f0
const CORNERS_MAX = 200
const TRUECOLOUR = 2
const TRUECOLOUR_ALPHA = 6
const PALETTE = 3

interface Pixels {
  readonly width: number
  readonly height: number
  /** Of each pixel 0xRRGGBB. */
  readonly colours: Uint32Array
}

export function shrinkPng(png: Buffer): Buffer {
  const { width, height, colours } = readPixels(png)
  const palette = choosePalette(colours)
  const indexOf = createNearest(palette)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y += 1) {
    // The first byte of a row says that it is as it stands.
    for (let x = 0; x < width; x += 1) {
      rows[y * (width + 1) + 1 + x] = indexOf(colours[y * width + x] ?? 0)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, PALETTE, 0, 0, 0], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => channelsOf(colour)))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function readPixels(png: Buffer): Pixels {
  const parts: Buffer[] = []
  let header: Buffer = Buffer.alloc(0)
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const data = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') header = data
    if (type === 'IDAT') parts.push(data)
    at += 12 + length
  }
  const [width, height, depth, kind] = [
    header.readUInt32BE(0),
    header.readUInt32BE(4),
    header[8],
    header[9],
  ]
  invariant(depth === 8 && (kind === TRUECOLOUR || kind === TRUECOLOUR_ALPHA), 'as Chromium writes')
  const step = kind === TRUECOLOUR ? 3 : 4
  const bytes = unfilter(inflateSync(Buffer.concat(parts)), { width, height, step })
  const colours = new Uint32Array(width * height)
  for (let at = 0; at < colours.length; at += 1) colours[at] = bytes.readUIntBE(at * step, 3)
  return { width, height, colours }
}

/** Each byte is the difference to the one before, the one above, or what the two and the one between say. PNG, section 9. */
function unfilter(
  raw: Buffer,
  { width, height, step }: { width: number; height: number; step: number },
): Buffer {
  const stride = width * step
  const bytes = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)]
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x
      const left = x >= step ? (bytes[at - step] ?? 0) : 0
      const above = y > 0 ? (bytes[at - stride] ?? 0) : 0
      const corner = x >= step && y > 0 ? (bytes[at - stride - step] ?? 0) : 0
      const given = raw[y * (stride + 1) + 1 + x] ?? 0
      bytes[at] = given + predict(filter, left, above, corner)
    }
  }
  return bytes
}

function predict(filter: number | undefined, left: number, above: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return above
  if (filter === 3) return (left + above) >> 1
  if (filter !== 4) return 0
  const guess = left + above - corner
  const byLeft = Math.abs(guess - left)
  const byAbove = Math.abs(guess - above)
  const byCorner = Math.abs(guess - corner)
  if (byLeft <= byAbove && byLeft <= byCorner) return left
  return byAbove <= byCorner ? above : corner
}

/** The one of each corner of the colours that most pixels have, where most pixels are; then those that most pixels have. */
function choosePalette(colours: Uint32Array): number[] {
  const counts = new Map<number, number>()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour)
  const corners = new Map<number, { readonly first: number; weight: number }>()
  for (const colour of byCount) {
    const corner = corners.get(colour & CORNER) ?? { first: colour, weight: 0 }
    corner.weight += (counts.get(colour) ?? 0) * (1 + hueOf(colour))
    corners.set(colour & CORNER, corner)
  }
  const kept = [...corners.values()]
    .sort((a, b) => b.weight - a.weight)
    .slice(0, CORNERS_MAX)
    .map(({ first }) => first)
  return [...new Set([...kept, ...byCount])].slice(0, COLOURS_MAX)
}

/** How far from a grey: a dot that says a state has few pixels, and its colour has to stay. */
function hueOf(colour: number): number {
  const channels = channelsOf(colour)
  return Math.max(...channels) - Math.min(...channels)
}

function createNearest(palette: readonly number[]): (colour: number) => number {
  const known = new Map(palette.map((colour, index) => [colour, index]))
  return (colour) => {
    const found = known.get(colour)
    if (found !== undefined) return found
    const [red, green, blue] = channelsOf(colour)
    let nearest = 0
    let least = Number.POSITIVE_INFINITY
    for (const [index, candidate] of palette.entries()) {
      const [r, g, b] = channelsOf(candidate)
      const apart = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2
      if (apart < least) [least, nearest] = [apart, index]
    }
    known.set(colour, nearest)
    return nearest
  }
}

function channelsOf(colour: number): [number, number, number] {
  return [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
