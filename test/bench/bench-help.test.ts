import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const BENCH = fileURLToPath(new URL('../../bench/bench.ts', import.meta.url))

function bench(...args: readonly string[]) {
  return spawnSync(process.execPath, [BENCH, ...args], { encoding: 'utf8' })
}

test('--help says how the bench is asked, what each row measures, and what its exit status means', () => {
  const { status, stdout, stderr } = bench('--help')
  assert.deepEqual([status, stderr], [0, ''])
  assert.match(stdout, /^Usage: npm run bench -- \[options\]\n/)
  for (const line of [
    '  --only ROW          this row; may be given several times (default: all rows but soak)',
    '  --renewals N        soak: renewals of each agent (default: 2000)',
    '  issue           certs/issue, beside the CA’s own sign',
    '  soak            memory of hub and agents over many renewals and events; only when --only names it',
    'Exit status: 0 when everything was measured, however slow it is, or whatever aim is missed; 1 when something does not work.',
  ]) {
    assert.ok(stdout.split('\n').includes(line), `${line}\n\nnot in\n\n${stdout}`)
  }
})
