import assert from 'node:assert/strict'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parseSettings, withSettingsOf } from './settings-file.ts'

const isRoot = process.geteuid?.() === 0

describe('[ENV-33] a settings file', () => {
  const lines: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ['a value is the rest of the line', 'A=b c', { A: 'b c' }],
    ['blanks around it go', 'A=  b  ', { A: 'b' }],
    ['nothing is expanded', 'A=$HOME/`id`', { A: '$HOME/`id`' }],
    ['quotes around it go', 'A="b # c"\nD=\'e\'', { A: 'b # c', D: 'e' }],
    ['comments and empty lines are skipped', '# A=1\n;B=2\n\nC=3', { C: '3' }],
    ['a comment does not go on', '# A=1 \\\nB=2', { B: '2' }],
    ['a backslash joins lines', 'A=1 \\\n2\nB=3', { A: '1  2', B: '3' }],
    ['an empty value is one', 'A=', { A: '' }],
    ['the last line of a name counts', 'A=1\nA=2', { A: '2' }],
  ]
  for (const [name, text, settings] of lines) {
    test(name, () => assert.deepEqual(parseSettings(text, '/x'), settings))
  }

  for (const [text, line] of [
    ['A=1\nexport B=2', 2],
    ['A=1 \\\n2\nB = 3', 3],
    ['1A=2', 1],
  ] as const) {
    test(`names line ${line} of ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseSettings(text, '/x'), {
        code: 'settings_invalid',
        message: `/x, line ${line}: not NAME=value`,
      }))
  }
})

describe('[ENV-33] settings', () => {
  let directory: string
  const path = (name: string): string => join(directory, name)
  const places = { packagePath: '', path: '' }
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'settings-'))
    places.packagePath = path('defaults.env')
    places.path = path('own.env')
    await writeFile(places.packagePath, 'A=package\nB=package\nC=package\nS_FILE=/package\n')
    await writeFile(places.path, 'A=own\nB=own\nT=own\nU=own')
    await writeFile(path('named.env'), 'A=named')
  })
  after(() => rm(directory, { recursive: true, force: true }))

  test('of the environment win over those of the administrator, and these over those of the package', () => {
    const env = { A: 'environment', T_FILE: '/t', U_FILE: '' }
    assert.deepEqual(withSettingsOf(env, places, undefined), {
      A: 'environment',
      B: 'own',
      C: 'package',
      S_FILE: '/package',
      T_FILE: '/t',
      U: 'own',
      U_FILE: '',
    })
  })

  test('come from the file that is named, which has to be there', () => {
    assert.equal(withSettingsOf({}, places, path('named.env'))['A'], 'named')
    assert.equal(withSettingsOf({}, places, path('named.env'))['B'], 'package')
    assert.throws(() => withSettingsOf({}, places, path('none.env')), {
      name: 'UserError',
      message: `--config: ENOENT: no such file or directory, open '${path('none.env')}'`,
    })
  })

  test('are empty where there is no file', () => {
    const none = { packagePath: path('none'), path: path('own.env/none') }
    assert.deepEqual(withSettingsOf({ A: '1' }, none, undefined), { A: '1' })
  })

  test('are nothing that root takes from others', { skip: !isRoot && 'not root' }, async () => {
    await chown(path('named.env'), 65_534, 0)
    const read = (): object => withSettingsOf({}, places, path('named.env'))
    assert.throws(read, {
      code: 'settings_unsafe',
      message: /named\.env can be changed by user 65534/,
    })
    await chown(path('named.env'), 0, 0)
    await chmod(path('named.env'), 0o666)
    assert.throws(read, { code: 'settings_unsafe', message: /can be changed by anyone/ })
  })
})
