import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberBefore, runCheck } from './check.ts'

const nothing = { name: 'probe', program: 'node', countFiles: numberBefore('files'), filesMin: 1 }

test('a check whose program fails has failed', () => {
  const script = `console.log('7 files'); process.exitCode = 1`
  const outcome = runCheck({ ...nothing, arguments: ['-e', script] })
  assert.equal(outcome.ok, false)
  assert.equal(outcome.files, 7)
})

test('a check that saw too few files has failed, whatever its program says', () => {
  assert.equal(runCheck({ ...nothing, arguments: ['-e', `console.log('0 files')`] }).ok, false)
  assert.equal(runCheck({ ...nothing, arguments: ['-e', `console.log('all good')`] }).ok, false)
})

test('a check whose program does not exist has failed', () => {
  assert.equal(runCheck({ ...nothing, program: 'no-such-program', arguments: [] }).ok, false)
})

test('a check passes when its program does and it saw enough', () => {
  assert.equal(runCheck({ ...nothing, arguments: ['-e', `console.log('1 files')`] }).ok, true)
})

test('the number is taken from the last time the words are printed', () => {
  assert.equal(numberBefore('files with')('3 files with x\nFinished on 12 files with 9 rules'), 12)
})
