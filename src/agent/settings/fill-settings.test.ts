import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parseSettings } from '../../platform/settings-file.ts'
import { fillSettings, fillSettingsFile } from './fill-settings.ts'

const GIVEN = {
  SVC_SERVER_URL: 'https://hub.example.org:8446',
  SVC_SERVER_MTLS_URL: 'https://hub.example.org:8443',
  SVC_AGENT_HOSTNAME: 'web-1.example.org',
  SVC_AGENT_ROLE: 'web',
  SVC_ENROLL_TOKEN: 'svct_secret',
  PATH: '/bin',
}

const SHIPPED = `# Settings of the agent.
SVC_SERVER_URL=
SVC_SERVER_MTLS_URL=
SVC_AGENT_ROLE=
#SVC_AGENT_HOSTNAME=
#SVC_AGENT_RENEWAL_THRESHOLD=6h
`

describe('[AGV-31] what enroll was told', () => {
  test('goes where the shipped file is empty, and nothing else', () => {
    const { text, filled } = fillSettings(SHIPPED, GIVEN, '/f')
    assert.equal(
      text,
      `# Settings of the agent.
SVC_SERVER_URL=https://hub.example.org:8446
SVC_SERVER_MTLS_URL=https://hub.example.org:8443
SVC_AGENT_ROLE=web
SVC_AGENT_HOSTNAME=web-1.example.org
#SVC_AGENT_RENEWAL_THRESHOLD=6h
`,
    )
    assert.deepEqual(filled, [
      'SVC_SERVER_URL',
      'SVC_SERVER_MTLS_URL',
      'SVC_AGENT_HOSTNAME',
      'SVC_AGENT_ROLE',
    ])
    const different = ['SVC_AGENT_ROLE']
    assert.deepEqual(fillSettings(text, { SVC_AGENT_ROLE: 'db' }, '/f'), {
      text,
      filled: [],
      different,
    })
    assert.deepEqual(fillSettings(text, GIVEN, '/f'), { text, filled: [], different: [] })
  })

  const unfit: readonly (readonly [string, string | Buffer, string])[] = [
    ['that ends a line', 'A=1\n', 'web\nSVC_SERVER_CA_PATH=/tmp/ca.pem'],
    ['after a line that goes on', 'A=1 \\', 'web'],
    ['in the middle of another value', 'A=1 \\\nSVC_AGENT_ROLE=\n', 'web'],
    ['beside bytes that are no text', Buffer.from('A=caf\xe9\n', 'latin1'), 'web'],
  ]
  for (const [name, content, role] of unfit) {
    test(`is not written where it would change another line: a value ${name}`, async () => {
      const directory = await mkdtemp(join(tmpdir(), 'fill-'))
      try {
        const path = join(directory, 'svc-agent.env')
        await writeFile(path, content)
        await assert.rejects(fillSettingsFile(path, { SVC_AGENT_ROLE: role }), {
          code: 'settings_unfit',
        })
        assert.deepEqual(await readFile(path), Buffer.from(content))
      } finally {
        await rm(directory, { recursive: true })
      }
    })
  }

  const before: readonly (readonly [string, string, string])[] = [
    ['is added to a file that does not name it', 'A=1\n', 'A=1\nSVC_AGENT_ROLE=web\n'],
    ['is added where the last line has no end', 'A=1', 'A=1\nSVC_AGENT_ROLE=web'],
    [
      'takes the place of the assignment that counts',
      'SVC_AGENT_ROLE=\nSVC_AGENT_ROLE=\n',
      'SVC_AGENT_ROLE=\nSVC_AGENT_ROLE=web\n',
    ],
    ['changes no value', 'SVC_AGENT_ROLE=db\n', 'SVC_AGENT_ROLE=db\n'],
    ['changes no value that a later line has', '#SVC_AGENT_ROLE=\nSVC_AGENT_ROLE=db', ''],
  ]
  for (const [name, text, after] of before) {
    test(name, () => {
      const filled = fillSettings(text, { SVC_AGENT_ROLE: 'web' }, '/f')
      assert.equal(filled.text, after === '' ? text : after)
    })
  }

  for (const role of ['web', 'a b', 'a"b', String.raw`a\b`, '#a', '$HOME', "it's", 'ação']) {
    test(`is read again as it was: ${role}`, () => {
      const { text } = fillSettings('', { SVC_AGENT_ROLE: role }, '/f')
      assert.deepEqual(parseSettings(text, '/f'), { SVC_AGENT_ROLE: role })
    })
  }

  test('leaves a file its mode, and makes none', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'fill-'))
    try {
      const path = join(directory, 'svc-agent.env')
      assert.equal(await fillSettingsFile(path, GIVEN), undefined)
      await writeFile(path, SHIPPED, { mode: 0o640 })
      const names = await fillSettingsFile(path, { SVC_AGENT_ROLE: 'web' })
      assert.deepEqual(names, { filled: ['SVC_AGENT_ROLE'], different: [] })
      assert.match(await readFile(path, 'utf8'), /^SVC_AGENT_ROLE=web$/m)
      assert.equal((await stat(path)).mode & 0o777, 0o640)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})
