import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RememberedAct } from '../domain/remembered-act.ts'
import type { ActSegment } from './act-segment.ts'
import { chooseActs } from './choose-acts.ts'

const act = (seq: number, hostname = `h${seq}`): RememberedAct => ({
  type: 'agent_revoked',
  seq,
  at: '2030-01-01T00:00:00.000000Z',
  agente_id: '11111111-1111-4111-8111-111111111111',
  hostname,
})
const segment = (after: number, until: number, seqs: readonly number[]): ActSegment => ({
  origin: 'log',
  epoch: 1,
  from: 0,
  base: 0,
  after,
  until,
  acts: seqs.map((seq) => act(seq)),
})
const second = (base: number, until: number, acts: readonly RememberedAct[]): ActSegment => ({
  ...segment(base, until, []),
  origin: 'log/2',
  epoch: 2,
  from: 1,
  base,
  acts,
})
const BACKUP = { epoch: 1, entries: 20 }
const seqsOf = (acts: readonly RememberedAct[]): number[] => acts.map(({ seq }) => seq)

describe('[BKP-19] of the acts that are kept', () => {
  test('those that the backup does not have are chosen, in their order', () => {
    const segments = [segment(30, 40, [31, 40]), segment(0, 30, [5, 20, 21])]
    const kept = { origin: 'log', size: 40 }
    const { acts, gap } = chooseActs(segments, BACKUP, kept)
    assert.deepEqual([seqsOf(acts), gap], [[21, 31, 40], undefined])
  })

  test('those of a later epoch follow, each once', () => {
    const segments = [segment(0, 30, [21]), second(25, 40, [act(21), act(26, 'other')])]
    const kept = { origin: 'log/2', size: 40 }
    const { acts, gap } = chooseActs(segments, BACKUP, kept)
    assert.deepEqual([seqsOf(acts), gap], [[21, 26], undefined])
  })

  test('those of an epoch that began before the backup’s end are all its own from there', () => {
    const segments = [segment(0, 30, [21]), second(10, 40, [act(11, 'other')])]
    assert.deepEqual(seqsOf(chooseActs(segments, BACKUP, undefined).acts), [21, 11])
  })

  test('none of an earlier epoch than the backup’s counts', () => {
    const segments = [segment(0, 30, [25]), second(20, 40, [act(35)])]
    const { acts } = chooseActs(segments, { epoch: 2, entries: 30 }, undefined)
    assert.deepEqual(seqsOf(acts), [35])
  })

  const gaps: readonly [string, readonly ActSegment[], string][] = [
    ['nothing is kept', [], 'no acts of this vault are kept'],
    [
      'a part was removed',
      [segment(0, 25, []), segment(30, 40, [])],
      'the acts of the entries 26 to 30 are not kept',
    ],
    [
      'the list begins after the backup',
      [segment(22, 40, [])],
      'the acts of the entries 21 to 22 are not kept',
    ],
    [
      'the newest part was put back to an earlier one',
      [segment(0, 30, [])],
      'the acts of the entries 31 to 40 are not kept',
    ],
  ]
  for (const [what, segments, gap] of gaps) {
    test(`a gap is named: ${what}`, () => {
      const found = chooseActs(segments, BACKUP, { origin: 'log', size: 40 })
      assert.equal(found.gap, gap)
    })
  }

  test('none is known to be the newest where no checkpoint says how long the log was', () => {
    const { gap } = chooseActs([segment(0, 40, [31])], BACKUP, undefined)
    assert.equal(gap, 'no checkpoint that this vault signed is kept beside the acts')
  })
})
