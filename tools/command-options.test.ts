import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const COMMANDS = [
  ['bench', 'bench/bench.ts'],
  ['demo', 'tools/demo/demo.ts'],
  ['fleet', 'fleet/fleet.ts'],
  ['fleet:compare', 'fleet/compare-vaults.ts'],
  ['fleet:fill', 'fleet/fill-vault.ts'],
  ['fleet:move', 'fleet/move-vault.ts'],
  ['reliability', 'reliability/reliability.ts'],
  ['simulate', 'test/simulation/simulate.ts'],
] as const

for (const [name, path] of COMMANDS) {
  const program = fileURLToPath(new URL(`../${path}`, import.meta.url))
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })

  describe(`npm run ${name}`, () => {
    test('--help says how it is asked, with an example', () => {
      const { status, stdout, stderr } = run('--help')
      assert.deepEqual([status, stderr], [0, ''])
      assert.ok(stdout.startsWith(`Usage: npm run ${name} -- `), stdout)
      assert.match(stdout, /\nOptions:\n[^]*\n {2}-h, --help +print this\n[^]*\nExamples?:\n/)
    })

    test('an option that it does not know is named, with the way to help', () => {
      const { status, stdout, stderr } = run('--keen')
      assert.deepEqual([status, stdout], [1, ''])
      assert.ok(stderr.endsWith(`error: Unknown option '--keen'\n${hint(name)}`), stderr)
    })
  })
}

function hint(name: string): string {
  return `${name}: hint: npm run ${name} -- --help\n`
}
