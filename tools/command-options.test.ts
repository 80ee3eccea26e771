import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

test('npm run demo on a fresh clone prints its help, and installs nothing', (t) => {
  const clone = mkdtempSync(join(tmpdir(), 'cartorio-clone-'))
  t.after(() => rmSync(clone, { recursive: true }))
  mkdirSync(join(clone, 'tools/demo'), { recursive: true })
  for (const name of ['demo.mjs', 'demo/help.txt']) {
    const path = fileURLToPath(new URL(name, import.meta.url))
    if (existsSync(path)) copyFileSync(path, join(clone, 'tools', name))
  }
  for (const flag of ['--help', '-h']) {
    const program = join(clone, 'tools/demo.mjs')
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, flag], {
      encoding: 'utf8',
      // Without npm.
      env: { PATH: clone },
    })
    assert.deepEqual([status, stderr], [0, ''])
    assert.ok(stdout.startsWith('Usage: npm run demo -- [options]\n'), stdout)
  }
})

function hint(name: string): string {
  return `${name}: hint: npm run ${name} -- --help\n`
}
