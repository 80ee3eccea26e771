import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { describeCommand } from './describe-command.ts'

test('a shell reads each word as it is meant', () => {
  const hostile = `a'b "c" $(d) \`e\`; f\\`
  const line = describeCommand(['printf', '%s\\n', hostile], {
    where: 'env=prod,role in (a, b)',
    san: ['one', '*.two'],
    late: true,
    all: false,
    role: undefined,
    q: '',
  })
  const read = execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' })
  assert.deepEqual(read.trimEnd().split('\n'), [
    hostile,
    '--where',
    'env=prod,role in (a, b)',
    '--san',
    'one',
    '--san',
    '*.two',
    '--late',
  ])
})

test('plain words stand as they are', () => {
  assert.equal(
    describeCommand(['svc', 'entrega', 'list'], { status: 'falhou', carga: 'site' }),
    'svc entrega list --status falhou --carga site',
  )
})
