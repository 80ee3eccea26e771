import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Secret } from '../platform/secret.ts'
import { findPassphraseFaults } from './passphrase-faults.ts'

const LONG = new Secret('correct horse')

describe('[VLT-18] a master passphrase', () => {
  let directory = ''
  let path = ''

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'passphrase-'))
    path = join(directory, 'passphrase')
    await writeFile(path, LONG.reveal())
  })
  after(() => rm(directory, { recursive: true }))

  const codesOf = (passphrase: Secret<string>, env: Record<string, string> = {}): string[] =>
    findPassphraseFaults(passphrase, env).map(({ code }) => code)

  test('is short with fewer than twelve characters, however many bytes these have', () => {
    for (const short of ['a', '', 'elevenchars', 'ñññññññññññ', '🐎🐎🐎🐎🐎🐎🐎🐎🐎🐎🐎']) {
      assert.deepEqual(codesOf(new Secret(short)), ['passphrase_short'], short)
    }
    assert.deepEqual(codesOf(new Secret('twelve chars')), [])
  })

  for (const [mode, codes] of [
    [0o600, []],
    [0o640, []],
    [0o440, []],
    [0o644, ['passphrase_exposed']],
    [0o604, ['passphrase_exposed']],
  ] as const) {
    test(`in a file of mode ${mode.toString(8)} is ${codes.length === 0 ? 'good' : 'exposed'}`, async () => {
      await chmod(path, mode)
      assert.deepEqual(codesOf(LONG, { SVC_MASTER_PASSPHRASE_FILE: path }), codes)
    })
  }

  test('of the environment is not that of the file', async () => {
    await chmod(path, 0o644)
    const env = { SVC_MASTER_PASSPHRASE: LONG.reveal(), SVC_MASTER_PASSPHRASE_FILE: path }
    assert.deepEqual(codesOf(LONG, env), [])
    assert.deepEqual(codesOf(LONG, { SVC_MASTER_PASSPHRASE_FILE: join(directory, 'none') }), [])
    assert.deepEqual(codesOf(LONG, { SVC_MASTER_PASSPHRASE_FILE: '/dev/null' }), [])
  })
})
