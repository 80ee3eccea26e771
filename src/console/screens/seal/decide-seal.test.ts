import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findSealFault, readVouched, type SealForm, splitNames } from './decide-seal.ts'

const FORM: SealForm = {
  nome: 'db',
  agents: 'web-1.example.org',
  role: '',
  where: '',
  hasText: true,
  hasFile: false,
}

test('[LOC-10] a form names what it lacks', () => {
  assert.equal(findSealFault(FORM, false), undefined)
  assert.equal(findSealFault({ ...FORM, nome: ' ' }, false), 'noName')
  assert.equal(findSealFault({ ...FORM, agents: ' , ' }, false), 'noWhom')
  assert.equal(findSealFault({ ...FORM, where: 'env=prod' }, false), 'bothWhom')
  assert.equal(findSealFault({ ...FORM, hasText: false }, false), 'noSecret')
  assert.equal(findSealFault({ ...FORM, hasFile: true }, false), 'twoSecrets')
  assert.equal(findSealFault({ ...FORM, nome: '', agents: '' }, true), undefined)
})

test('names are separated by anything that is in none', () => {
  assert.deepEqual(splitNames(' a.example,b.example\n a.example '), ['a.example', 'b.example'])
})

test('[LOC-9] a recipient counts once its own fingerprint was typed', () => {
  assert.equal(readVouched(['SHA256:a', 'SHA256:b'], { 'SHA256:a': 'SHA256:a' }), undefined)
  assert.equal(readVouched(['SHA256:a'], { 'SHA256:a': 'SHA256:b' }), undefined)
  assert.deepEqual(readVouched(['SHA256:a'], { 'SHA256:a': ' SHA256:a\n' }), ['SHA256:a'])
})
