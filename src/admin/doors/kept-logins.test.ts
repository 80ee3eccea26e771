import assert from 'node:assert/strict'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Secret } from '../../platform/secret.ts'
import type { KeptLogin } from './kept-login.ts'
import { type KeptLogins, openKeptLogins } from './kept-logins.ts'

const TOKEN = `svca_${'A'.repeat(43)}`
const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const ME = process.geteuid?.() ?? 0

function loginAt(hub: string, name = 'alice@example.org'): KeptLogin {
  return {
    hub,
    caPem: PEM,
    name,
    role: 'operator',
    only: null,
    provider: { name: 'Example SSO', issuer: 'https://sso.example.org' },
    expiresAt: new Date('2026-11-21T22:00:00.000Z'),
    token: new Secret(TOKEN),
  }
}

describe('kept logins', () => {
  let home: string
  let directory: string
  let logins: KeptLogins
  let root: string
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'kept-logins-'))
  })
  beforeEach(async () => {
    home = await mkdtemp(join(root, 'home-'))
    directory = join(home, '.config', 'cartorio', 'logins')
    logins = openKeptLogins({ HOME: home })
  })
  after(() => rm(root, { recursive: true }))

  test('[OID-34] are files of their owner alone, one for each host and port', async () => {
    const hubs = ['https://hub.example.org:8445', 'https://hub.example.org', 'https://[::1]:8445']
    for (const hub of hubs) await logins.keep(loginAt(hub))
    assert.deepEqual((await readdir(directory)).sort(), [
      '--1_8445.json',
      'hub.example.org_443.json',
      'hub.example.org_8445.json',
    ])
    for (const at of [directory, dirname(directory)]) {
      assert.equal((await stat(at)).mode & 0o777, 0o700)
    }
    for (const name of await readdir(directory)) {
      assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600)
    }
    for (const hub of hubs) assert.deepEqual(logins.find(new URL(hub)), loginAt(hub))
    assert.equal(logins.list().logins.length, 3)
  })

  test('[OID-34] are below XDG_CONFIG_HOME where that is absolute', async () => {
    const login = loginAt('https://hub.example.org:8445')
    const path = await openKeptLogins({ HOME: '/nowhere', XDG_CONFIG_HOME: join(home, 'x') }).keep(
      login,
    )
    assert.equal(path, join(home, 'x', 'cartorio', 'logins', 'hub.example.org_8445.json'))
    const other = await openKeptLogins({ HOME: home, XDG_CONFIG_HOME: 'relative' }).keep(login)
    assert.equal(other, join(directory, 'hub.example.org_8445.json'))
    assert.throws(() => openKeptLogins({}).prepare(), { code: 'logins_nowhere' })
    assert.equal(openKeptLogins({}).find(new URL(login.hub)), undefined)
    assert.deepEqual(openKeptLogins({}).list(), { logins: [], refused: [] })
  })

  test('[OID-34] take the place of the earlier one as a whole, also where a link is in its place', async () => {
    const login = loginAt('https://hub.example.org:8445')
    const path = await logins.keep(login)
    const planted = join(home, 'planted')
    await writeFile(planted, 'untouched')
    await rm(path)
    await symlink(planted, path)
    await logins.keep({ ...login, name: 'bob@example.org' })
    assert.ok((await lstat(path)).isFile())
    assert.equal(await readFile(planted, 'utf8'), 'untouched')
    assert.equal(logins.find(new URL(login.hub))?.name, 'bob@example.org')
    assert.deepEqual(await readdir(directory), ['hub.example.org_8445.json'])
    await logins.forget(new URL(login.hub))
    await logins.forget(new URL(login.hub))
    assert.deepEqual(await readdir(directory), [])
  })

  test('[OID-34] show no token to what prints them', async () => {
    const login = loginAt('https://hub.example.org:8445')
    await logins.keep(login)
    assert.doesNotMatch(JSON.stringify(logins.list()), /svca_/)
  })

  for (const [name, mode] of [
    ['everybody may write', 0o777],
    ['a group may read', 0o750],
  ] as const) {
    test(`[OID-35] are not kept where ${name}`, async () => {
      await mkdir(directory, { recursive: true })
      await chmod(directory, mode)
      assert.throws(() => logins.prepare(), {
        code: 'logins_exposed',
        message: `svc keeps no login in ${directory}: it is open to others`,
        hint: `chmod 700 ${directory}`,
      })
      await assert.rejects(logins.keep(loginAt('https://hub.example.org:8445')))
      assert.deepEqual(await readdir(directory), [])
    })
  }

  test('[OID-35] are not kept below a directory that others may write to', async () => {
    await mkdir(join(home, '.config'))
    await chmod(join(home, '.config'), 0o777)
    assert.throws(() => logins.prepare(), {
      code: 'logins_exposed',
      message: `svc keeps no login in ${directory}: it is below a directory in which others can write`,
    })
  })

  test('[OID-35] are not kept in a directory of another user', () => {
    logins.prepare()
    assert.throws(() => openKeptLogins({ HOME: home }, ME + 1).prepare(), {
      code: 'logins_exposed',
      message: `svc keeps no login in ${directory}: it is owned by somebody else`,
      hint: 'run svc as the person who signs in',
    })
  })

  test('[OID-35] say why there can be none', async () => {
    await writeFile(join(home, '.config'), 'a file')
    assert.throws(() => logins.prepare(), { code: 'logins_unwritable' })
  })

  test('[OID-35] are not used once others could read them, or when they are another user’s', async () => {
    const url = new URL('https://hub.example.org:8445')
    const path = await logins.keep(loginAt(url.origin))
    await chmod(path, 0o640)
    assert.throws(() => logins.find(url), {
      code: 'login_exposed',
      message: `the login in ${path} is open to others`,
    })
    await chmod(path, 0o600)
    assert.throws(() => openKeptLogins({ HOME: home }, ME + 1).find(url), {
      code: 'login_exposed',
      message: `the login in ${path} is owned by somebody else`,
    })
  })

  test('[OID-34] that are no good are listed apart from the others, each with what helps', async () => {
    const good = loginAt('https://hub.example.org:8445')
    const [, damaged, open, moved] = [
      await logins.keep(good),
      await logins.keep(loginAt('https://one.example.org:8445')),
      await logins.keep(loginAt('https://two.example.org:8445')),
      await logins.keep(loginAt('https://xyz.example.org:8445')),
    ]
    await writeFile(damaged, '{')
    await chmod(open, 0o644)
    await writeFile(moved, await readFile(join(directory, 'hub.example.org_8445.json'), 'utf8'))
    await mkdir(join(directory, 'a-directory.json'))
    const listed = logins.list()
    assert.deepEqual(listed.logins, [good])
    assert.deepEqual(
      listed.refused.map(({ code, hint }) => [code, hint?.split(',')[0]]),
      [
        ['login_unreadable', `rm ${join(directory, 'a-directory.json')}`],
        ['login_invalid', `rm ${damaged}`],
        ['login_exposed', `rm ${open}`],
        ['login_invalid', `rm ${moved}`],
      ],
    )
  })

  for (const [name, spoil] of [
    ['damaged', (text: string) => text.slice(0, 40)],
    ['empty', () => ''],
    ['of a newer svc', (text: string) => text.replace('"version": 1', '"version": 2')],
    ['without a time that is one', (text: string) => text.replace('2026-11-21', '2026-99-99')],
    ['of another hub', (text: string) => text.replace('hub.example.org', 'hub.attacker.example')],
    ['with a token of another kind', (text: string) => text.replace('svca_', 'svct_')],
  ] as const) {
    test(`[OID-34] that are ${name} are refused, with what helps`, async () => {
      const url = new URL('https://hub.example.org:8445')
      const path = await logins.keep(loginAt(url.origin))
      await writeFile(path, spoil(await readFile(path, 'utf8')))
      assert.throws(() => logins.find(url), {
        code: 'login_invalid',
        message: `${path} is damaged, or of a newer version of svc`,
        hint: `rm ${path}, and sign in again`,
      })
    })
  }
})
