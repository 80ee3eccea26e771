import assert from 'node:assert/strict'
import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { PieceSeal } from '../platform/sealed-pieces.ts'
import { Secret } from '../platform/secret.ts'
import { deriveSegmentKeys, packRecords, unpackRecords } from './segment-blocks.ts'
import {
  countSegmentHeadBytes,
  encodeSegmentHead,
  openSegmentHead,
  type SegmentHead,
} from './segment-head.ts'

const KEY = new Secret(Buffer.alloc(32, 7))
const SALT = 'ab'.repeat(32)
const HEAD: SegmentHead = {
  vaultId: '2f1f7c1e-3f0e-4bb1-b1a2-3f9a6f7f0c22',
  createdAt: '2026-11-23T12:00:00.000Z',
  program: '0.5.0',
  first: 1,
  last: 512,
  firstTimestamp: '2026-01-01T00:00:00.000000Z',
  lastTimestamp: '2026-02-01T00:00:00.000000Z',
  previousHash: '0'.repeat(64),
  hash: '1'.repeat(64),
  checkpoint: 'note',
  key: 'key',
  left: [],
  right: ['hash'],
  salt: SALT,
  blocks: [20, 30],
}

/** By the statements alone. */
function keyOf(purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', Buffer.alloc(32, 7), Buffer.from(SALT, 'hex'), purpose, 32))
}

describe('a segment', () => {
  const keys = deriveSegmentKeys(KEY, SALT)
  const bytes = encodeSegmentHead(HEAD, keys.head)

  test('[ARC-3] begins with a head, as the statement has it byte by byte', () => {
    const textBytes = bytes.readUInt32BE(8)
    assert.equal(bytes.toString('latin1', 0, 8), 'SVCSEGM1')
    assert.equal(bytes.length, 12 + textBytes + 32)
    assert.deepEqual(JSON.parse(bytes.toString('utf8', 12, 12 + textBytes)), { format: 1, ...HEAD })
    const mac = createHmac('sha256', keyOf('svc segment head v1'))
    assert.deepEqual(bytes.subarray(-32), mac.update(bytes.subarray(0, -32)).digest())
    assert.equal(countSegmentHeadBytes(bytes.subarray(0, 12), 'x'), bytes.length)
    assert.partialDeepStrictEqual(
      openSegmentHead(bytes, () => keys.head, 'x'),
      HEAD,
    )
  })

  test('[ARC-3] [ARC-7] whose head has another byte, or is of another vault, is refused', () => {
    for (let at = 12; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 4
      const open = (): unknown => openSegmentHead(changed, () => keys.head, 'file')
      assert.throws(open, ({ code }: { code: string }) => code.startsWith('segment_'))
    }
    assert.throws(() => openSegmentHead(bytes, () => Buffer.alloc(32), 'file'), {
      code: 'segment_damaged',
    })
    const newer = Buffer.from(
      bytes.toString('latin1').replace('"format":1', '"format":9'),
      'latin1',
    )
    assert.throws(() => openSegmentHead(newer, () => keys.head, 'file'), {
      code: 'segment_newer',
      message: 'file has format 9, this program knows format 1',
    })
  })

  test('[ARC-4] has blocks of records, compressed and sealed, each in its place', async () => {
    const records = ['one', 'zwölf', '']
    const packed = await packRecords(records)
    assert.deepEqual(
      inflateSync(packed),
      Buffer.from('\0\0\0\x03one\0\0\0\x06zw\xc3\xb6lf\0\0\0\0', 'latin1'),
    )
    assert.deepEqual(await unpackRecords(packed, 'x'), records)
    const mac = bytes.subarray(-32)
    const seal = new PieceSeal(keys.blocks, mac, 2)
    const sealed = [
      Buffer.concat(seal.seal(0, packed)),
      Buffer.concat(seal.seal(1, packed)),
    ] as const
    const nonces = ['000000000000000000000000', '000000000000000000000101']
    for (const [index, block] of sealed.entries()) {
      const nonce = Buffer.from(nonces[index] ?? '', 'hex')
      const decipher = createDecipheriv('aes-256-gcm', keyOf('svc segment blocks v1'), nonce)
      decipher.setAAD(mac)
      decipher.setAuthTag(block.subarray(-16))
      const opened = Buffer.concat([decipher.update(block.subarray(0, -16)), decipher.final()])
      assert.deepEqual(opened, packed)
      assert.deepEqual(seal.open(index, block), packed)
    }
    assert.equal(seal.open(0, sealed[1]), undefined)
    assert.equal(seal.open(0, sealed[0].subarray(1)), undefined)
    assert.equal(new PieceSeal(keys.blocks, Buffer.alloc(32), 2).open(0, sealed[0]), undefined)
    assert.equal(new PieceSeal(keys.blocks, mac, 3).open(1, sealed[1]), undefined)
  })
})
