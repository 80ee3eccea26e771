import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listRolloutActs, listWaves, readUntil, writeUntil } from './decide-rollout-acts.ts'

test('what may be done follows from the state, and roots only go forward', () => {
  assert.deepEqual(listRolloutActs({ kind: 'load', state: 'running' }), [
    'pauseRollout',
    'undoRollout',
  ])
  assert.deepEqual(listRolloutActs({ kind: 'load', state: 'paused' }), [
    'resumeRollout',
    'undoRollout',
  ])
  assert.deepEqual(listRolloutActs({ kind: 'roots', state: 'frozen' }), [
    'resumeRollout',
    'pauseRollout',
  ])
  for (const state of ['done', 'undone', 'undoing'] as const) {
    assert.deepEqual(listRolloutActs({ kind: 'load', state }), [])
  }
})

test('each wave has its own hosts; those to come have none', () => {
  const counts = { pending: 1, unprobed: 2, done: 3, failed: 4, declined: 0 }
  const rollout = { waves: ['1', '10%', '100%'], wave: 2, by_wave: [{ wave: 2, ...counts }] }
  const waves = listWaves({ ...rollout, state: 'running' })
  assert.deepEqual(
    waves.map(({ state }) => state),
    ['over', 'open', 'to come'],
  )
  assert.deepEqual(waves[1], {
    wave: 2,
    size: '10%',
    state: 'open',
    done: 3,
    underWay: 3,
    failed: 4,
  })
  assert.equal(listWaves({ ...rollout, state: 'done' })[1]?.state, 'over')
})

test('a time is read in the zone that it was typed in', () => {
  assert.equal(readUntil('2026-12-01T08:00', 'utc'), '2026-12-01T08:00:00.000Z')
  assert.equal(readUntil('', 'utc'), undefined)
  assert.equal(readUntil('soon', 'local'), undefined)
})

test('a time is written as it is read, in either zone', () => {
  assert.equal(writeUntil('2026-12-01T08:00:00.000Z', 'utc'), '2026-12-01T08:00')
  assert.equal(writeUntil('2026-12-01T08:00:05Z', 'utc'), '2026-12-01T08:00:05')
  assert.equal(writeUntil('2026-12-01T08:00:05.250Z', 'utc'), '2026-12-01T08:00:05.250')
  for (const zone of ['utc', 'local'] as const) {
    const until = '2026-07-01T23:30:00.000Z'
    assert.equal(readUntil(writeUntil(until, zone), zone), until)
  }
})
