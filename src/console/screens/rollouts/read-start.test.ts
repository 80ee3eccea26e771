import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WAVES_DRAFT } from '../cargo/read-form.ts'
import { svc } from '../../commands/svc.ts'
import { readStart, type StartDraft } from './read-start.ts'

const DRAFT: StartDraft = { whom: 'all', where: '', programa: '', waves: WAVES_DRAFT }
const RULES = {
  waves: ['1', '10%', '50%', '100%'],
  soak_seconds: 600,
  max_failed: '0',
  late_seconds: 3600,
}

test('[RLO-24] a rotation of all hosts has no selector', () => {
  assert.deepEqual(readStart('rotation', DRAFT), RULES)
  // A selector that was typed before all hosts were chosen counts for nothing.
  assert.deepEqual(readStart('rotation', { ...DRAFT, where: 'env=prod' }), RULES)
})

test('what the hub needs is asked for first', () => {
  assert.equal(readStart('rotation', { ...DRAFT, whom: 'where', where: ' ' }), undefined)
  assert.equal(readStart('update', DRAFT), undefined)
  const waves = { ...WAVES_DRAFT, soakMinutes: 'soon' }
  assert.equal(readStart('rotation', { ...DRAFT, waves }), undefined)
})

test('an update names a version, and the command says the same', () => {
  const draft = {
    ...DRAFT,
    programa: ' 0.5.1 ',
    whom: 'where',
    where: 'env in (prod,stage)',
  } as const
  const request = readStart('update', draft)
  assert.deepEqual(request, { ...RULES, programa: '0.5.1', where: 'env in (prod,stage)' })
  assert.equal(
    svc.startRollout('update', request ?? RULES),
    `svc agente update 0.5.1 --where 'env in (prod,stage)' --waves 1,10%,50%,100% --soak 600s --max-failed 0 --late-after 3600s`,
  )
  assert.equal(
    svc.startRollout('rotate', RULES),
    'svc agente rotate --all --waves 1,10%,50%,100% --soak 600s --max-failed 0 --late-after 3600s',
  )
})
