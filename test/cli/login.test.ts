// `svc login`, `logout` and `whoami` at a hub that is a fake: what people see, and what stays on the machine.
// test/conformance/oidc-login.test.ts has the real hub and a real provider.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFakeCa } from '../fakes/hub-certificates.ts'
import { startSignInHub } from '../fakes/sign-in-hub.ts'
import { PASTED, STATE, useLoginScene } from './login-scene.ts'
import { runInShellHere } from './run-in-shell.ts'
import { findTerminalFault, runOnTerminal } from './terminal.ts'
import { parseTranscript, renderOutcome } from './transcript.ts'

const used = useLoginScene()

test('[CLI-184] [OID-30] [OID-33] [OID-36] [OID-37] [OID-39] [OID-40] what a person sees who signs in, works and signs out', async () => {
  const otherPath = join(used.scene.home, 'other.pem')
  await writeFile(otherPath, (await createFakeCa()).rootPem)
  const env = {
    HOME: used.scene.home,
    HUB: used.scene.hub.url,
    ROOT: used.scene.rootPath,
    OTHER: otherPath,
  }
  const steps = parseTranscript(
    await readFile(new URL('login.script.txt', import.meta.url), 'utf8'),
  )
  assert.ok(steps.length > 10)
  for (const { command, expected } of steps) {
    const outcome = await runInShellHere(command, env)
    const seen = renderOutcome(outcome, used.scene.home).replaceAll(used.scene.hub.url, '<hub>')
    assert.equal(seen, expected, `$ ${command}`)
  }
  assert.deepEqual([...used.scene.hub.good], [], 'each token was revoked')
})

describe('[OID-33] through SSH', () => {
  test(
    'svc asks for the address by itself, and shows what is pasted',
    { skip: findTerminalFault() },
    async () => {
      const { screen, exitStatus } = await runOnTerminal(
        `svc login --hub ${used.scene.hub.url} --hub-ca ${used.scene.rootPath} --port 8400`,
        { HOME: used.scene.home, DISPLAY: ':10', SSH_CONNECTION: '192.0.2.7 1 192.0.2.8 22' },
        [
          { awaits: 'within 10 minutes: ', types: 'http://127.0.0.1:9/callback?x\r' },
          { awaits: 'within 10 minutes: ', types: PASTED.trimEnd() + '\r' },
        ],
      )
      assert.equal(exitStatus, 0, screen)
      assert.match(screen, /does not begin with http:\/\/127\.0\.0\.1:8400\/callback\?/)
      assert.match(screen, /callback\?code=good-code/)
      assert.match(screen, /^name +alice@example\.org$/m)
    },
  )

  test('an address is taken that is longer than a line of a terminal', async () => {
    const long = PASTED.trimEnd() + `&session_state=${'s'.repeat(6000)}`
    const { status, stderr } = await used.scene.svc(
      ['login', ...used.scene.hubOptions, '--no-browser', '--port', '8400'],
      `${long}\n`,
    )
    assert.equal(status, 0, stderr)
  })
})

describe('[OID-37] a login that is there', () => {
  test('is renewed in its last hour, and the earlier token revoked', async () => {
    used.scene.hub.expiresAt = new Date(Date.now() + 59 * 60_000)
    await used.scene.paste()
    const [first] = used.scene.hub.good
    used.scene.hub.expiresAt = new Date(Date.now() + 12 * 3_600_000)
    await used.scene.paste()
    const [second, ...others] = used.scene.hub.good
    assert.notEqual(second, first)
    assert.deepEqual(others, [])
    assert.equal((await used.scene.keptFiles()).length, 1)
    await used.scene.paste()
    assert.deepEqual([...used.scene.hub.good], [second], 'now it is good for longer')
  })

  test('is made again when the hub has ended it, or by another root', async () => {
    await used.scene.paste()
    used.scene.hub.good.clear()
    const { status } = await used.scene.paste()
    assert.equal(status, 0)
    assert.equal(used.scene.hub.good.size, 1)
    const [token] = used.scene.hub.good
    const otherPath = join(used.scene.home, 'other.pem')
    await writeFile(otherPath, used.scene.ca.rootPem + used.scene.ca.intermediatePem)
    const again = await used.scene.svc(
      [
        'login',
        '--hub',
        used.scene.hub.url,
        '--hub-ca',
        otherPath,
        '--no-browser',
        '--port',
        '8400',
      ],
      PASTED,
    )
    assert.equal(again.status, 0, again.stderr)
    assert.ok(!used.scene.hub.good.has(token ?? ''))
  })

  test('is sent to its own hub alone', async () => {
    await used.scene.paste()
    await using other = await startSignInHub({ ca: used.scene.ca, state: STATE })
    const { status, stderr } = await used.scene.svc([
      '--hub',
      other.url,
      '--hub-ca',
      used.scene.rootPath,
      'agent',
      'list',
    ])
    assert.equal(status, 1)
    assert.match(stderr, /nobody is signed in at/)
    assert.deepEqual(other.asked, [])
  })
})

describe('[OID-34] a file of a login that is damaged', () => {
  const pathOf = (name: string) => join(used.scene.home, '.config', 'cartorio', 'logins', name)
  const OTHER = 'old.example.org_8445.json'

  test('stops nobody who works with another login', async () => {
    await used.scene.paste()
    await writeFile(pathOf(OTHER), '{"version": 1', { mode: 0o600 })
    const again = await used.scene.svc(['login'])
    assert.deepEqual([again.status, again.stderr], [0, ''])
    assert.match(again.stdout, /^signed in at https:\S+ as alice@example\.org already, until /)
    const asked = await used.scene.svc(['whoami'])
    assert.deepEqual([asked.status, asked.stderr], [0, ''])
    const ended = await used.scene.svc(['logout'])
    assert.deepEqual([ended.status, ended.stderr], [0, ''])
    assert.deepEqual(await used.scene.keptFiles(), [OTHER])
  })

  test('is named with what helps where there is no other, or all are to end', async () => {
    await used.scene.paste()
    await writeFile(pathOf(OTHER), '{"version": 1', { mode: 0o600 })
    const said = `svc: error: ${pathOf(OTHER)} is damaged, or of a newer version of svc\nsvc: hint: rm ${pathOf(OTHER)}, and sign in again\n`
    const all = await used.scene.svc(['logout', '--all'])
    assert.deepEqual(
      [all.status, all.stdout, all.stderr],
      [1, `signed out at ${used.scene.hub.url}, as alice@example.org\n`, said],
    )
    for (const command of ['login', 'whoami', 'logout']) {
      const { status, stdout, stderr } = await used.scene.svc([command])
      assert.deepEqual([status, stdout, stderr], [1, '', said], command)
    }
    const remote = ['--hub', 'https://old.example.org:8445', 'agent', 'list']
    assert.equal((await used.scene.svc(remote)).stderr, said)
    assert.deepEqual(await used.scene.keptFiles(), [OTHER])
  })

  test('is named as each other one when all are to end', async () => {
    await used.scene.paste()
    const names = ['a.example.org_8445.json', 'b.example.org_8445.json', 'c.example.org_8445.json']
    for (const name of names) await writeFile(pathOf(name), '{"version": 1', { mode: 0o600 })
    const { status, stdout, stderr } = await used.scene.svc(['logout', '--all'])
    const [a = '', b = '', c = ''] = names.map(pathOf)
    const damaged = 'is damaged, or of a newer version of svc'
    assert.deepEqual(
      [status, stdout, stderr],
      [
        1,
        `signed out at ${used.scene.hub.url}, as alice@example.org\n`,
        `svc: ${b} ${damaged}: rm ${b}, and sign in again\n` +
          `svc: ${c} ${damaged}: rm ${c}, and sign in again\n` +
          `svc: error: ${a} ${damaged}\nsvc: hint: rm ${a}, and sign in again\n`,
      ],
    )
  })
})

describe('[OID-39] a logout', () => {
  test('removes the login also when the hub is away, and says that its token works on', async () => {
    await used.scene.paste()
    used.scene.hub.answers.set('revoke', undefined)
    const { status, stdout, stderr } = await used.scene.svc(['logout'])
    assert.equal(status, 1)
    assert.equal(stdout, `signed out at ${used.scene.hub.url} on this machine alone\n`)
    assert.match(
      stderr,
      /did not revoke the token of alice@example\.org, which works there until .*: the connection to https:\S+ broke.*\nsvc: hint: an admin ends it at once: svc admin token revoke alice@example\.org\n$/,
    )
    assert.deepEqual(await used.scene.keptFiles(), [])
    assert.equal((await used.scene.svc(['logout'])).stdout, 'nobody was signed in\n')
  })

  test('is no failure when the hub has ended the login before', async () => {
    await used.scene.paste()
    used.scene.hub.good.clear()
    const { status, stdout } = await used.scene.svc(['logout', '--json'])
    assert.equal(status, 0)
    assert.deepEqual(JSON.parse(stdout).logins[0].revoked, true)
  })

  test('of all hubs ends each, the ones that can be asked at the hub too', async () => {
    await using other = await startSignInHub({ ca: used.scene.ca, state: STATE })
    await used.scene.paste()
    await used.scene.svc(
      [
        'login',
        '--hub',
        other.url,
        '--hub-ca',
        used.scene.rootPath,
        '--no-browser',
        '--port',
        '8400',
      ],
      PASTED,
    )
    assert.match(
      (await used.scene.svc(['whoami'])).stderr,
      /name the hub with --hub: there are logins at /,
    )
    used.scene.hub.answers.set('revoke', undefined)
    const { status, stdout } = await used.scene.svc(['logout', '--all'])
    assert.equal(status, 1)
    assert.equal(stdout.split('\n').length, 3)
    assert.deepEqual([other.good.size, (await used.scene.keptFiles()).length], [0, 0])
  })
})
