// What Cartorio says of its log, and what golang.org/x/mod/sumdb/{note,tlog} say of it, agree: notes, roots, proofs, exports, and
// what is refused.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { formatCheckpoint } from '../../src/audit/checkpoint.ts'
import { formatEntryProof, openEntryProof } from '../../src/audit/entry-proof.ts'
import { formatAddCheckpoint } from '../../src/audit/add-checkpoint.ts'
import { openCosigned } from '../../src/audit/cosigned-checkpoint.ts'
import { consistencyOf, inclusionOf } from '../../src/audit/range-proofs.ts'
import { ExportVerifier, openExport } from '../../src/audit/export-verifier.ts'
import {
  carryOutPlan,
  planConsistency,
  planInclusion,
  type ProofPlan,
  verifyConsistency,
  verifyInclusion,
} from '../../src/audit/merkle-proofs.ts'
import { EMPTY_FRONTIER, growTree, rootOf } from '../../src/audit/merkle-tree.ts'
import { hashRecord } from '../../src/audit/record.ts'
import { openNote, parseVerifierKey, parseWitnessKey } from '../../src/audit/signed-note.ts'
import type { TalkingProgram } from '../../tools/talking-program.ts'
import { makeContents, makeLog, type MadeLog } from '../support/made-export.ts'
import { propertyRuns } from '../support/property.ts'
import { startGoTlog, WITH_GO_TLOG } from './with-go-tlog.ts'

interface Answer {
  readonly refused?: string
  readonly size: number
  readonly root?: string
  readonly proof?: readonly string[]
  readonly note?: string
  readonly key?: string
}

const COUNT = 40
const LOG = makeLog(makeContents(COUNT))
const LEAVES = LOG.records.map(hashRecord)
const GROWN = growTree(EMPTY_FRONTIER, LEAVES)
const NODES = new Map(GROWN.filled.map(({ level, index, hash }) => [`${level}/${index}`, hash]))
const rootAt = (size: number): Buffer =>
  rootOf(growTree(EMPTY_FRONTIER, LEAVES.slice(0, size)).frontier)

describe('[CHN-33] the log, and Go’s tlog:', WITH_GO_TLOG, () => {
  let go: TalkingProgram
  before(() => {
    go = startGoTlog()
  })
  after(() => go[Symbol.asyncDispose]())
  const ask = async (words: object): Promise<Answer> => (await go.ask(words)) as Answer

  test('[CHN-15] a checkpoint of ours is opened there with our key, and a note of theirs here', async () => {
    const opened = await ask({ ask: 'open', note: LOG.noteAt(COUNT), key: LOG.key })
    assert.deepEqual(opened, { size: COUNT, root: rootAt(COUNT).toString('base64') })
    const text = formatCheckpoint({ origin: 'go.example/log', size: 3, root: rootAt(3) })
    const { note = '', key = '' } = await ask({ ask: 'sign', name: 'go.example/log', text })
    const signer = parseVerifierKey(key) ?? assert.fail(key)
    assert.deepEqual(openNote(note, [signer]), { text, signers: [signer] })
  })

  test('[CHN-15] a checkpoint with another byte is refused on both sides', async () => {
    const note = LOG.noteAt(COUNT)
    const signer = parseVerifierKey(LOG.key) ?? assert.fail()
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: note.length - 1 }),
        fc.integer({ min: 1, max: 126 }),
        async (at, code) => {
          const other = String.fromCharCode(code)
          fc.pre(note[at] !== other)
          const changed = note.slice(0, at) + other + note.slice(at + 1)
          const { refused } = await ask({ ask: 'open', note: changed, key: LOG.key })
          assert.equal(openNote(changed, [signer]), undefined)
          // Go takes base64 whose last bits, which nothing has, are not zero.
          assert.ok(refused ?? isSpelling(changed, note))
        },
      ),
      propertyRuns(300),
    )
  })

  test('[CHN-12] [CHN-13] [CHN-30] an export of ours has the root that we signed, also there', async () => {
    for (const count of [0, 1, 2, 3, 7, 8, 300]) {
      const log = makeLog(makeContents(count))
      const { size, root } = log.checkpointAt(count)
      const verified = await ask({ ask: 'export', export: log.exportOf(), key: log.key })
      assert.deepEqual(verified, { size, root: root.toString('base64') })
    }
  })

  test('[CHN-32] an export that was changed is refused on both sides', async () => {
    const text = LOG.exportOf()
    const [head = ''] = text.split('\n')
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.constantFrom('', '0', 'x', '\\', '"', ' '),
        async (at, other) => {
          // The head has members that Go's tlog does not know of: its key, and what an export has of a log.
          const place = head.length + 1 + (at % (text.length - head.length - 2))
          const changed = text.slice(0, place) + other + text.slice(place + 1)
          fc.pre(changed !== text)
          assert.ok(!isGood(LOG, changed))
          const { refused } = await ask({ ask: 'export', export: changed, key: LOG.key })
          assert.ok(refused, changed.slice(place - 20, place + 20))
        },
      ),
      propertyRuns(300),
    )
  })

  test('[CHN-36] the proof of one entry is good on both sides, and with another byte on neither', async () => {
    const signer = parseVerifierKey(LOG.key) ?? assert.fail()
    const root = rootAt(COUNT).toString('base64')
    for (const seq of [1, 2, 31, 32, 33, COUNT]) {
      const proof = provenEntry(seq)
      const taken = await ask({ ask: 'proof', export: proof, key: LOG.key })
      assert.deepEqual(taken, { size: COUNT, root })
      const hashes = proof.split('\n').slice(0, -4)
      for (const at of hashes.keys()) {
        const changed = proof.split('\n').toSpliced(at, 1).join('\n')
        assert.ok('reason' in openEntryProof(changed, signer))
        assert.ok((await ask({ ask: 'proof', export: changed, key: LOG.key })).refused, changed)
      }
    }
  })

  for (const kind of ['ed25519', 'ml-dsa-44']) {
    test(`[CHN-39] [CLI-123] a witness of the public tools with a key of ${kind} signs what --add-checkpoint prints, and is understood`, async () => {
      const log = parseVerifierKey(LOG.key) ?? assert.fail()
      for (const old of [0, 1, 7, 32, COUNT]) {
        const text = addCheckpoint(old)
        const asked = { ask: 'witness', name: 'witness.example/w1', kind, text, key: LOG.key }
        const older = rootAt(old).toString('base64')
        const { note: line = '', key = '', size } = await ask({ ...asked, older })
        assert.equal(size, COUNT)
        const witness = parseWitnessKey(key) ?? assert.fail(key)
        const cosigned = `${text.slice(text.indexOf('\n\n') + 2)}${line}`
        const opened = openCosigned(cosigned, log, [witness])
        assert.ok('note' in opened, 'reason' in opened ? opened.reason : '')
        assert.equal(opened.note, cosigned)
        if (old === 0) continue
        const other = rootAt(old === 1 ? 2 : 1).toString('base64')
        assert.ok((await ask({ ...asked, older: other })).refused ?? old === COUNT)
      }
    })
  }

  test('[CHN-14] our proofs are taken there and theirs here, the same hash for hash', async () => {
    const records = [...LOG.records]
    for (const [older, newer] of [
      [1, 1],
      [1, 2],
      [3, 7],
      [4, 7],
      [6, 8],
      [8, 40],
      [31, 33],
      [32, 40],
      [39, 40],
    ] as const) {
      const [index, root] = [older - 1, rootAt(newer)]
      const inclusion = carryOut(planInclusion(index, newer))
      const theirs = await ask({ ask: 'prove-record', records, size: newer, index })
      assert.deepEqual(theirs.proof ?? [], inclusion.map(toBase64))
      const claim = { leaf: LEAVES[index] ?? assert.fail(), index, size: newer, root }
      assert.ok(verifyInclusion(claim, (theirs.proof ?? []).map(fromBase64)))
      const sent = { size: newer, index, root: toBase64(root), leaf: toBase64(claim.leaf) }
      const taken = { ...sent, ask: 'check-record', proof: inclusion.map(toBase64) }
      assert.deepEqual(await ask(taken), { size: 0 })
      assert.ok((await ask({ ...taken, leaf: toBase64(root) })).refused ?? newer === 1)

      const consistency = carryOut(planConsistency(older, newer))
      const grown = await ask({ ask: 'prove-tree', records, size: newer, index: older })
      assert.deepEqual(grown.proof ?? [], consistency.map(toBase64))
      const [before_, after_] = [older, newer].map((size) => ({ size, root: rootAt(size) }))
      assert.ok(before_ && after_)
      assert.ok(verifyConsistency(before_, after_, (grown.proof ?? []).map(fromBase64)))
      const proof = consistency.map(toBase64)
      const check = { ask: 'check-tree', size: newer, index: older, root: toBase64(root), proof }
      assert.deepEqual(await ask({ ...check, older: toBase64(before_.root) }), { size: 0 })
      assert.ok((await ask({ ...check, older: toBase64(rootAt(newer + 1)) })).refused)
    }
  })

  test('[CHN-14] a proof with another bit, or a hash too few or too many, is refused on both sides', async () => {
    const pairs = fc
      .integer({ min: 2, max: COUNT })
      .chain((newer) => fc.tuple(fc.integer({ min: 1, max: newer - 1 }), fc.constant(newer)))
    await fc.assert(
      fc.asyncProperty(pairs, fc.nat(), async ([older, newer], salt) => {
        const root = toBase64(rootAt(newer))
        const inclusion = carryOut(planInclusion(older, newer))
        const leaf = LEAVES[older] ?? assert.fail()
        for (const wrong of wrongly(inclusion, salt)) {
          const claim = { leaf, index: older, size: newer, root: rootAt(newer) }
          assert.ok(!verifyInclusion(claim, wrong))
          const sent = { size: newer, index: older, root, leaf: toBase64(leaf) }
          const { refused } = await ask({
            ask: 'check-record',
            ...sent,
            proof: wrong.map(toBase64),
          })
          assert.ok(refused)
        }
        const consistency = carryOut(planConsistency(older, newer))
        for (const wrong of wrongly(consistency, salt)) {
          const [old, now] = [older, newer].map((size) => ({ size, root: rootAt(size) }))
          assert.ok(old && now && !verifyConsistency(old, now, wrong))
          const sent = { size: newer, index: older, root, older: toBase64(old.root) }
          const { refused } = await ask({ ask: 'check-tree', ...sent, proof: wrong.map(toBase64) })
          assert.ok(refused)
        }
      }),
      propertyRuns(100),
    )
  })
})

/** Whether the one has the bytes of the other, in another base64. */
function isSpelling(one: string, other: string): boolean {
  const start = other.lastIndexOf(' ') + 1
  const signatures = [one, other].map((note) => Buffer.from(note.slice(start), 'base64'))
  return (
    one.startsWith(other.slice(0, start)) &&
    signatures[0]?.equals(signatures[1] ?? Buffer.of()) === true
  )
}

function addCheckpoint(old: number): string {
  const { left, right, checkpoint } = LOG.prove({ after: old, before: old + 1 })
  const hashes = consistencyOf(old, COUNT, {
    left: left.map(fromBase64),
    right: right.map(fromBase64),
  })
  return formatAddCheckpoint(old, hashes, checkpoint ?? '')
}

function provenEntry(seq: number): string {
  const { left, right, checkpoint } = LOG.prove({ after: seq - 1, before: seq + 1 })
  const hashes = inclusionOf(seq, COUNT, {
    left: left.map(fromBase64),
    right: right.map(fromBase64),
  })
  const record = LOG.records[seq - 1] ?? assert.fail()
  return formatEntryProof({ record, hashes, checkpoint: checkpoint ?? '' }, seq)
}

function isGood({ key, signer }: MadeLog, text: string): boolean {
  const lines = text.split('\n')
  if (lines.pop() !== '') return false
  const [head = '', ...records] = lines
  const opened = openExport(head, { key, signer, kept: undefined })
  if (!(opened instanceof ExportVerifier)) return false
  if (records.some((record) => opened.add(record) !== undefined)) return false
  return opened.chainFault === undefined && opened.finish() === undefined
}

function carryOut(plan: ProofPlan): readonly Buffer[] {
  const hashes = plan
    .flat()
    .map(({ level, index }) => NODES.get(`${level}/${index}`) ?? assert.fail())
  return carryOutPlan(plan, hashes)
}

function wrongly(proof: readonly Buffer[], salt: number): readonly (readonly Buffer[])[] {
  const at = salt % proof.length
  const bit = salt % 256
  const changed = proof.map((step, place) => {
    if (place !== at) return step
    const other = Buffer.from(step)
    other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return other
  })
  return [changed, [...proof, rootAt(0)], proof.slice(1), proof.slice(0, -1)]
}

function toBase64(hash: Buffer): string {
  return hash.toString('base64')
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64')
}
