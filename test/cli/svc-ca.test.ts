// svc-ca as its users meet it: what it prints, and its exit status.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const SVC_CA = fileURLToPath(new URL('../../bin/svc-ca', import.meta.url))

interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

function svcCa(...args: readonly string[]): Outcome {
  const { status, stdout, stderr } = spawnSync(SVC_CA, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

async function firstLineOf(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  return text
}

describe('svc-ca', () => {
  let parent = ''
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'svc-ca-'))
  })
  after(() => rm(parent, { recursive: true, force: true }))

  test('prints its version', () => {
    const { status, stdout } = svcCa('--version')
    assert.equal(status, 0)
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
  })

  test('has help with examples, also for its commands', () => {
    for (const args of [['--help'], ['init', '--help'], ['serve', '--help']]) {
      const { status, stdout } = svcCa(...args)
      assert.equal(status, 0)
      assert.match(stdout, /Examples:\n(?: {2}umask 077 .*\n)? {2}svc-ca /)
    }
  })

  test('init prints the four settings of a hub, which a shell can read', () => {
    const directory = join(parent, 'shell')
    const { status, stdout } = svcCa('init', '--dir', directory)
    assert.equal(status, 0)
    const script = `${stdout}\nprintf %s "$SVC_CA_PROVISIONER_KEY"; printf '\\n%s' "$SVC_CA_URL"`
    const shell = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
    const [key = '', url] = shell.stdout.split('\n')
    assert.equal((JSON.parse(key) as { kty: string }).kty, 'EC')
    assert.equal(url, 'https://127.0.0.1:9000')
  })

  test('init prints them as JSON too', () => {
    const { stdout } = svcCa('init', '--json', '--dir', join(parent, 'json'), '--dns', 'ca.example')
    assert.deepEqual(Object.keys(JSON.parse(stdout) as object), [
      'SVC_CA_URL',
      'SVC_CA_PROVISIONER_KID',
      'SVC_CA_PROVISIONER_KEY',
      'SVC_CA_ROOT_CA_PATH',
    ])
    assert.match(stdout, /"SVC_CA_URL": "https:\/\/ca\.example:9000"/)
  })

  const refused: readonly (readonly [string, readonly string[], string])[] = [
    [
      'a duration without a unit',
      ['--cert-duration', '10'],
      'not a duration of at least a second: 10',
    ],
    ['a bad address', ['--listen', '9000'], 'not a listen address: 9000'],
    ['a bad DNS name', ['--dns', 'a b'], 'not a DNS name or IP address: a b'],
    ['an empty name', ['--name', ''], 'a name has 1 to 40 characters'],
  ]
  for (const [what, args, message] of refused) {
    test(`init refuses ${what}`, () => {
      const { status, stdout, stderr } = svcCa('init', '--dir', join(parent, 'refused'), ...args)
      assert.equal(status, 1)
      assert.equal(stdout, '')
      assert.ok(stderr.startsWith(`svc-ca: error: ${message}\n`), stderr)
    })
  }

  test('init never touches a CA that is there', () => {
    const directory = join(parent, 'there')
    svcCa('init', '--dir', directory)
    const { status, stdout, stderr } = svcCa('init', '--dir', directory)
    assert.deepEqual(
      { status, stdout, stderr },
      { status: 1, stdout: '', stderr: `svc-ca: error: CA already initialised at ${directory}\n` },
    )
  })

  test('serve says so when there is no CA', () => {
    const directory = join(parent, 'nothing')
    const { status, stderr } = svcCa('serve', '--dir', directory)
    assert.equal(status, 1)
    assert.equal(
      stderr,
      `svc-ca: error: no CA at ${directory}: ca.json is missing\n` +
        `svc-ca: hint: svc-ca init --dir ${directory} makes one\n`,
    )
  })

  test('serve prints one line when it is ready, holds its port, and ends with 0 on SIGTERM', async () => {
    const directory = join(parent, 'serve')
    svcCa('init', '--dir', directory)
    const args = ['serve', '--dir', directory, '--listen', '127.0.0.1:0']
    const child = spawn(SVC_CA, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = once(child, 'exit')
    try {
      const [, port] =
        /^listening https:\/\/127\.0\.0\.1:(\d+)\n$/.exec(await firstLineOf(child)) ?? []
      assert.ok(port)
      const second = svcCa('serve', '--dir', directory, '--listen', `127.0.0.1:${port}`)
      assert.equal(second.status, 1)
      assert.match(second.stderr, /Address already in use/)
    } finally {
      child.kill('SIGTERM')
    }
    assert.deepEqual(await ended, [0, null])
  })
})
