import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Secret } from '../../platform/secret.ts'
import type { KeptLogin } from './kept-login.ts'
import { findRemoteHub, type HubOptions, type RemoteHub } from './hub-options.ts'

const TOKEN = `svca_${'A'.repeat(43)}`
const HUB = 'https://hub.example.org:8445'

const NOW = new Date('2026-11-21T10:00:00Z')
const ROOT = '-----BEGIN CERTIFICATE-----\nAAAABBBB\n-----END CERTIFICATE-----\n'
const LOGIN: KeptLogin = {
  hub: HUB,
  caPem: ROOT,
  name: 'alice@example.org',
  role: 'operator',
  only: null,
  provider: { name: 'Example SSO', issuer: 'https://sso.example.org' },
  expiresAt: new Date('2026-11-21T10:00:01Z'),
  token: new Secret(`svca_${'B'.repeat(43)}`),
}

const find = (
  options: HubOptions,
  env: Record<string, string>,
  login?: KeptLogin,
): RemoteHub | undefined =>
  findRemoteHub(options, {
    env,
    userId: process.getuid?.(),
    logins: { find: ({ origin }) => (origin === HUB ? login : undefined) },
    now: NOW,
  })

describe('findRemoteHub', () => {
  let directory: string
  let tokenFile: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'hub-options-'))
    tokenFile = await write('token', `${TOKEN}\n`)
  })
  after(() => rm(directory, { recursive: true }))

  async function write(name: string, content: string, mode = 0o600): Promise<string> {
    const path = join(directory, name)
    await writeFile(path, content)
    await chmod(path, mode)
    return path
  }

  test('[API-20] is the vault here unless a hub is named', () => {
    assert.equal(find({}, {}), undefined)
    assert.equal(find({}, { SVC_HUB: '', SVC_HUB_TOKEN_FILE: tokenFile }), undefined)
    assert.throws(() => find({ tokenFile }, {}), {
      message: '--token-file goes with --hub',
    })
  })

  test('[API-20] takes an option before its variable', () => {
    const env = { SVC_HUB: 'https://other.example.org', SVC_HUB_TOKEN_FILE: tokenFile }
    assert.equal(find({}, env)?.url.href, 'https://other.example.org/')
    const chosen = find({ hub: HUB }, env)
    assert.equal(chosen?.url.origin, HUB)
    assert.equal(chosen?.token.reveal(), TOKEN)
  })

  for (const url of [
    'http://hub.example.org',
    'hub.example.org:8445',
    'https://user@hub',
    'https://hub/path',
    'https://hub?x',
    'ftp://hub',
  ]) {
    test(`[API-20] refuses ${url}`, () => {
      assert.throws(() => find({ hub: url, tokenFile }, {}), { code: 'hub_url_invalid' })
    })
  }

  for (const [name, content, mode, code] of [
    ['group may read', TOKEN, 0o640, 'token_file_exposed'],
    ['others may read', TOKEN, 0o604, 'token_file_exposed'],
    ['others may write', TOKEN, 0o602, 'token_file_exposed'],
    ['is empty', '', 0o600, 'token_file_invalid'],
    ['holds an enrolment token', `svct_${'A'.repeat(43)}`, 0o600, 'token_file_invalid'],
    ['holds two tokens', `${TOKEN}\n${TOKEN}`, 0o600, 'token_file_invalid'],
    ['is huge', 'x'.repeat(300_000), 0o600, 'file_invalid'],
  ] as const) {
    test(`[API-21] refuses a token file that ${name}, without a word of it`, async () => {
      const path = await write('wrong', content, mode)
      assert.throws(
        () => find({ hub: HUB, tokenFile: path }, {}),
        (error: Error & { code?: string }) =>
          error.code === code && !error.message.includes('AAAA'),
      )
    })
  }

  test('[API-21] refuses a token file that is none', async () => {
    await mkdir(join(directory, 'folder'))
    for (const [path, code] of [
      [join(directory, 'folder'), 'file_invalid'],
      ['/dev/null', 'file_invalid'],
      [join(directory, 'nothing'), 'file_unreadable'],
    ] as const) {
      assert.throws(() => find({ hub: HUB, tokenFile: path }, {}), { code })
    }
  })

  test('[OID-36] takes the login of that hub, with its root, after every token file', () => {
    for (const [options, env] of [
      [{ hub: HUB }, {}],
      [{ hub: `${HUB}/` }, { SVC_HUB: 'https://other.example.org' }],
      [{}, { SVC_HUB: HUB }],
      [{}, { SVC_HUB: 'https://HUB.example.org:8445', SVC_HUB_TOKEN_FILE: '' }],
    ] as const) {
      const found = find(options, env, LOGIN)
      assert.deepEqual([found?.from, found?.caPem], [{ login: LOGIN }, ROOT])
      assert.equal(found?.token.reveal(), LOGIN.token.reveal())
    }
    for (const [options, env] of [
      [{ hub: HUB, tokenFile }, {}],
      [{ hub: HUB }, { SVC_HUB_TOKEN_FILE: tokenFile }],
    ] as const) {
      const found = find(options, env, LOGIN)
      assert.deepEqual([found?.from, found?.caPem], [{ file: tokenFile }, undefined])
      assert.equal(found?.token.reveal(), TOKEN)
    }
  })

  for (const hub of [
    'https://hub.example.org',
    'https://hub.example.org:8446',
    'https://hub2:8445',
  ]) {
    test(`[OID-36] has no login for ${hub}, and says how to get one`, () => {
      assert.throws(() => find({ hub }, {}, LOGIN), {
        code: 'signed_out',
        message: `nobody is signed in at ${hub}`,
        hint: `svc login --hub ${hub} signs you in; --token-file (SVC_HUB_TOKEN_FILE) names the file of an admin token`,
      })
    })
  }

  test('[OID-36] gives a login to no hub that is known by another root', async () => {
    const other = await write('other', ROOT.replace('AAAA', 'CCCC'))
    assert.throws(() => find({ hub: HUB, hubCa: other }, {}, LOGIN), {
      code: 'login_of_other_root',
      hint: `svc login --hub ${HUB} --hub-ca <file> signs in by that root; without --hub-ca svc takes the root of the login`,
    })
    const { caPem: _root, ...bySystem } = LOGIN
    assert.throws(() => find({ hub: HUB, hubCa: other }, {}, { ...bySystem, caPem: undefined }), {
      code: 'login_of_other_root',
    })
    const same = await write('same', `a comment\n${ROOT.replaceAll('\n', '\r\n')}`)
    assert.deepEqual(find({ hub: HUB, hubCa: same }, {}, LOGIN)?.from, { login: LOGIN })
  })

  test('[OID-36] says of a login that it has ended, and how to begin the next one', () => {
    assert.throws(() => find({ hub: HUB }, {}, { ...LOGIN, expiresAt: NOW }), {
      code: 'login_ended',
      message: `the login of alice@example.org at ${HUB} ended at 2026-11-21T10:00:00.000Z`,
      hint: `sign in again: svc login --hub ${HUB}`,
    })
  })

  test('[API-20] refuses a root that is no certificate', async () => {
    const hubCa = await write('ca', 'nothing')
    assert.throws(() => find({ hub: HUB, tokenFile, hubCa }, {}), {
      code: 'hub_ca_invalid',
    })
  })
})
