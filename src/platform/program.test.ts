import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'

const PROGRAM = new URL('program.ts', import.meta.url).href
const ERRORS = new URL('errors.ts', import.meta.url).href

describe('a program', () => {
  const table: [string, string, number, RegExp][] = [
    ['that succeeds exits 0', 'async () => {}', 0, /^$/],
    [
      'that fails says why, and what to do',
      `async () => { throw new SvcError('code', 'it broke', { hint: 'mend it' }) }`,
      1,
      /^name: error: it broke\nname: hint: mend it\n$/,
    ],
    [
      'that the system stops says by what, without a stack',
      `async () => void (await import('node:fs')).mkdirSync('/etc/passwd/x')`,
      1,
      /^name: error: ENOTDIR: not a directory, mkdir '\/etc\/passwd\/x'\nname: hint: a file is in the place of a directory\n$/,
    ],
    [
      'that knows no way out tells the one of what stopped it',
      `async () => {
        const cause = Object.assign(new Error(), { code: 'EACCES' })
        throw new SvcError('code', 'cannot read it', { cause: new Error('', { cause }) })
      }`,
      1,
      /^name: error: cannot read it\nname: hint: run it as the owner of that file, or as root\n$/,
    ],
    [
      'that the system stops says by what, also where nothing more can be said',
      `async () => void (await import('node:fs')).readFileSync('/nonexistent')`,
      1,
      /^name: error: ENOENT: no such file or directory, open '\/nonexistent'\n$/,
    ],
    [
      'that has a bug shows where',
      `async () => { throw new TypeError('oops') }`,
      1,
      /^name: error: internal error: TypeError: oops\n +at /,
    ],
    [
      '[LOG-5] that quotes a token does not show it',
      `async () => { throw new SvcError('code', 'no svct_c2Vj\\nhere', { hint: 'not svca_%63' }) }`,
      1,
      /^name: error: no \[redacted\]\nname: error: here\nname: hint: not \[redacted\]\n$/,
    ],
    [
      '[LOG-5] that has a bug does not show a token either',
      `async () => { throw new TypeError('svct_c2Vj') }`,
      1,
      /^name: error: internal error: TypeError: \[redacted\]\n +at /,
    ],
    [
      'that waits for what never comes has not succeeded',
      `() => new Promise(() => {})`,
      1,
      /^name: error: internal error: Error: nothing is left to wait for, and it is not done/,
    ],
  ]
  for (const [title, main, status, stderr] of table) {
    test(title, () => {
      const source = `
        import { runProgram } from '${PROGRAM}'
        import { SvcError } from '${ERRORS}'
        void runProgram('name', ${main})
      `
      const ended = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
        encoding: 'utf8',
      })
      assert.equal(ended.status, status, ended.stderr)
      assert.match(ended.stderr, stderr)
    })
  }
})
