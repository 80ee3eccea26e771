import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { findRemoteHub, type HubOptions, type RemoteHub } from './hub-options.ts'

const TOKEN = `svca_${'A'.repeat(43)}`
const HUB = 'https://hub.example.org:8445'

const find = (options: HubOptions, env: Record<string, string>): RemoteHub | undefined =>
  findRemoteHub(options, env, process.getuid?.())

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
    assert.throws(() => find({ hub: HUB }, {}), {
      message: '--hub needs --token-file, or SVC_HUB_TOKEN_FILE',
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

  test('[API-20] refuses a root that is no certificate', async () => {
    const hubCa = await write('ca', 'nothing')
    assert.throws(() => find({ hub: HUB, tokenFile, hubCa }, {}), {
      code: 'hub_ca_invalid',
    })
  })
})
