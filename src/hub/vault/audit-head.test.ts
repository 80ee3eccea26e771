import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { Secret } from '../../platform/secret.ts'
import { openAuditHeadFile } from './audit-head.ts'

const directory = mkdtempSync(join(tmpdir(), 'audit-head-'))
const path = join(directory, 'audit.head')
const key = new Secret(randomBytes(32))
const hashOf = (seq: number): string => String(seq % 10).repeat(64)

function reopened(dataKey = key) {
  const file = openAuditHeadFile(path, dataKey)
  const head = file.read()
  file.close()
  return head
}

function writeHeads(...seqs: number[]): void {
  const file = openAuditHeadFile(path, key)
  for (const seq of seqs) file.write({ seq, hash: hashOf(seq) })
  file.close()
}

describe('the authenticated head [CHN-9]', () => {
  beforeEach(() => rmSync(path, { force: true }))
  after(() => rmSync(directory, { recursive: true }))

  test('starts empty, private and at its full size', () => {
    assert.equal(reopened(), undefined)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(statSync(path).size, 8192)
  })

  test('gives back what was written last, also after being opened again', () => {
    writeHeads(1, 2, 3)
    assert.deepEqual(reopened(), { seq: 3, hash: hashOf(3) })
    writeHeads(4)
    assert.deepEqual(reopened(), { seq: 4, hash: hashOf(4) })
    assert.equal(statSync(path).size, 8192)
  })

  test('falls back to the other slot when the newest is damaged in any byte', () => {
    writeHeads(1, 2)
    const whole = readFileSync(path)
    for (let offset = 0; offset < 80; offset += 1) {
      const damaged = Buffer.from(whole)
      // The second write went into the second slot.
      damaged[4096 + offset] = (damaged[4096 + offset] ?? 0) ^ 1
      writeFileSync(path, damaged)
      assert.deepEqual(reopened(), { seq: 1, hash: hashOf(1) }, `byte ${offset}`)
    }
  })

  test('is nothing under another key', () => {
    writeHeads(1, 2)
    assert.equal(reopened(new Secret(randomBytes(32))), undefined)
  })
})
