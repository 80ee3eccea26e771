import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { MinisignKey, WITH_MINISIGN } from '../../test/support/minisign.ts'
import { propertyRuns } from '../../test/support/property.ts'
import { invariant } from '../platform/errors.ts'
import {
  type MinisignPublicKey,
  parseMinisignPublicKey,
  parseMinisignSignature,
  verifyMinisign,
} from './minisign.ts'

const CONTENT = Buffer.from('#!/bin/sh\necho 0.1.1\n')
const COMMENT = 'version:0.1.1 file:svc-agent'

describe('[UPD-4] signatures of the real minisign', WITH_MINISIGN, () => {
  let tool: MinisignKey
  let key: MinisignPublicKey
  before(async () => {
    tool = await MinisignKey.create()
    key = keyOf(tool)
  })
  after(() => tool[Symbol.asyncDispose]())

  for (const legacy of [false, true]) {
    const name = legacy ? 'legacy' : 'prehashed'

    test(`${name} ones are accepted, with their trusted comment`, () => {
      fc.assert(
        fc.property(
          fc.uint8Array({ maxLength: 300 }),
          fc.stringMatching(/^[ -~]{1,60}$/),
          (content, trustedComment) => {
            // A comment that starts with - would be read as an option.
            const comment = `t${trustedComment}`
            const signature = tool.sign(content, { legacy, trustedComment: comment })
            assert.equal(parseMinisignSignature(signature)?.algorithm, name)
            const verdict = verifyMinisign(key, content, signature)
            assert.deepEqual(verdict, { ok: true, trustedComment: comment })
          },
        ),
        propertyRuns(25),
      )
    })

    test(`${name} ones hold for no other bit anywhere, in the file or in the signature`, () => {
      const signature = tool.sign(CONTENT, { legacy, trustedComment: COMMENT })
      assert.equal(verifyMinisign(key, CONTENT, signature).ok, true)
      for (const content of flippedOnce(CONTENT)) {
        assert.equal(verifyMinisign(key, content, signature).ok, false)
      }
      for (const changed of flippedOnce(signature)) {
        const { ok } = verifyMinisign(key, CONTENT, changed)
        assert.equal(ok, false, changed.toString('latin1'))
      }
    })

    test(`${name} ones cut short or made longer anywhere are refused`, () => {
      const signature = tool.sign(CONTENT, { legacy, trustedComment: COMMENT })
      for (let length = 0; length < signature.length; length += 1) {
        assert.equal(verifyMinisign(key, CONTENT, signature.subarray(0, length)).ok, false)
      }
      const longer = Buffer.concat([signature, Buffer.from('\n')])
      assert.equal(verifyMinisign(key, CONTENT, longer).ok, false)
      assert.equal(verifyMinisign(key, CONTENT.subarray(1), signature).ok, false)
      assert.equal(verifyMinisign(key, Buffer.alloc(0), signature).ok, false)
    })
  }

  test('what minisign refuses is never accepted, whatever was spliced', () => {
    const lines = [
      ...linesOf(tool.sign(CONTENT, { trustedComment: COMMENT })),
      ...linesOf(tool.sign('another file', { trustedComment: 'version:9.9.9 file:svc-agent' })),
      ...linesOf(tool.sign(CONTENT, { legacy: true, trustedComment: COMMENT })),
    ]
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...lines), { minLength: 4, maxLength: 4 }),
        (spliced) => {
          const signature = Buffer.from(`${spliced.join('\n')}\n`)
          if (verifyMinisign(key, CONTENT, signature).ok) {
            assert.equal(tool.accepts(CONTENT, signature), true)
          }
        },
      ),
      propertyRuns(2000),
    )
  })

  test('that of another key is refused, and one whose key id was made ours', async () => {
    await using other = await MinisignKey.create()
    const signature = other.sign(CONTENT)
    assert.deepEqual(verifyMinisign(key, CONTENT, signature), {
      ok: false,
      reason: 'it is by another key',
    })
    const lines = linesOf(signature)
    const bytes = Buffer.from(lines[1] ?? '', 'base64')
    key.keyId.copy(bytes, 2)
    const forged = [lines[0], bytes.toString('base64'), lines[2], lines[3], ''].join('\n')
    assert.equal(verifyMinisign(key, CONTENT, Buffer.from(forged)).ok, false)
  })

  test('one with the trusted comment of another is refused', () => {
    const mine = linesOf(tool.sign(CONTENT, { trustedComment: COMMENT }))
    const other = linesOf(tool.sign(CONTENT, { trustedComment: 'version:9.9.9 file:svc-agent' }))
    const spliced = Buffer.from([mine[0], mine[1], other[2], mine[3], ''].join('\n'))
    assert.deepEqual(verifyMinisign(key, CONTENT, spliced), {
      ok: false,
      reason: 'somebody changed its trusted comment',
    })
  })

  test('a signature file of over 4096 bytes is not read', () => {
    const signature = tool.sign(CONTENT, { trustedComment: 'c'.repeat(4000) })
    assert.ok(signature.length > 4096)
    assert.equal(parseMinisignSignature(signature), undefined)
  })

  test('another spelling of the same base64 is refused', () => {
    const lines = linesOf(tool.sign(CONTENT))
    for (const index of [1, 3]) {
      const line = lines[index] ?? ''
      for (const spelling of [line.replace(/=+$/, ''), ` ${line}`, `${line}\r`, `${line}=`]) {
        const changed = lines.with(index, spelling)
        assert.equal(verifyMinisign(key, CONTENT, Buffer.from(`${changed.join('\n')}\n`)).ok, false)
      }
    }
  })
})

test('what is no public key of minisign is none', () => {
  const noise = Buffer.alloc(42)
  for (const line of ['', 'RWQ', noise.toString('base64'), 'untrusted comment: minisign key']) {
    assert.equal(parseMinisignPublicKey(line), undefined, line)
  }
})

test('no bytes make the parser throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
      assert.equal(parseMinisignSignature(bytes), undefined)
    }),
    propertyRuns(),
  )
})

function keyOf({ publicKey }: MinisignKey): MinisignPublicKey {
  const key = parseMinisignPublicKey(publicKey)
  invariant(key !== undefined, 'minisign makes keys that can be read')
  return key
}

function linesOf(signature: Buffer): string[] {
  return signature.toString('utf8').split('\n').slice(0, 4)
}

function* flippedOnce(bytes: Buffer): Generator<Buffer> {
  for (let index = 0; index < bytes.length; index += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ (1 << bit)
      yield changed
    }
  }
}
