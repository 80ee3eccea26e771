import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../test/support/property.ts'
import { Secret } from '../../platform/secret.ts'
import { type AuditHead, openAuditHeadFile } from './audit-head.ts'

const directory = mkdtempSync(join(tmpdir(), 'audit-head-property-'))
after(() => rmSync(directory, { recursive: true }))
const path = join(directory, 'audit.head')
const key = new Secret(Buffer.alloc(32, 7))

function reopened(): AuditHead | undefined {
  const file = openAuditHeadFile(path, key)
  const head = file.read()
  file.close()
  return head
}

const heads = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 2 ** 40 }), fc.stringMatching(/^[0-9a-f]{64}$/)), {
    minLength: 1,
    maxLength: 5,
  })
  .map((steps) => {
    let seq = 0
    return steps.map(([step, hash]): AuditHead => ({ seq: (seq += step), hash }))
  })
const damage = fc.array(
  fc.tuple(
    fc.oneof(fc.nat({ max: 8191 }), fc.nat({ max: 80 }), fc.integer({ min: 4096, max: 4176 })),
    fc.integer({ min: 0, max: 255 }),
  ),
  { maxLength: 6 },
)

test('[CHN-9] whatever is damaged, a head that is read was written, and is the last or the one before it', () => {
  fc.assert(
    fc.property(
      heads,
      damage,
      fc.integer({ min: 0, max: 9000 }),
      fc.boolean(),
      (written, bytes, length, isCut) => {
        rmSync(path, { force: true })
        const file = openAuditHeadFile(path, key)
        for (const head of written) file.write(head)
        file.close()
        const content = readFileSync(path)
        for (const [offset, byte] of bytes) content[offset] = byte
        writeFileSync(path, isCut ? content.subarray(0, length) : content)
        const head = reopened()
        if (head === undefined) return
        assert.ok(written.slice(-2).some(({ seq, hash }) => seq === head.seq && hash === head.hash))
      },
    ),
    propertyRuns(150),
  )
})

test('[CHN-9] bytes of anything are no head', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 9000 }), fc.boolean(), (bytes, hasMagic) => {
      const content = Buffer.concat([Buffer.from(hasMagic ? 'SVCHEAD1' : ''), bytes])
      writeFileSync(path, content)
      assert.equal(reopened(), undefined)
    }),
    propertyRuns(100),
  )
})

test('[CHN-9] what is written after damage is read again', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 9000 }), heads, (bytes, written) => {
      writeFileSync(path, bytes)
      const file = openAuditHeadFile(path, key)
      for (const head of written) file.write(head)
      file.close()
      assert.deepEqual(reopened(), written.at(-1))
    }),
    propertyRuns(100),
  )
})
