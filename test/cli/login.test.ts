// `svc login`, `logout` and `whoami` at a hub that is a fake: what people see, what stays on the machine, and what the hub and the machine's
// other users can do about it. test/conformance/oidc-login.test.ts has the real hub and a real provider.

import assert from 'node:assert/strict'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, before, beforeEach, describe, test } from 'node:test'
import { createFakeCa, type FakeCa } from '../fakes/hub-certificates.ts'
import { type SignInHub, type SignInRoute, startSignInHub } from '../fakes/sign-in-hub.ts'
import { type Ended, type RunningProgram, startProgram, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { findTool } from '../support/tools.ts'
import { runInShellHere } from './run-in-shell.ts'
import { findTerminalFault, runOnTerminal } from './terminal.ts'
import { parseTranscript, renderOutcome } from './transcript.ts'

const STATE = 'fixed-state'
const PASTED = `http://127.0.0.1:8400/callback?code=good-code&state=${STATE}\n`

let ca: FakeCa
let hub: SignInHub
let home: string
let rootPath: string
before(async () => {
  ca = await createFakeCa()
})
beforeEach(async () => {
  hub = await startSignInHub({ ca, state: STATE })
  home = await mkdtemp(join(tmpdir(), 'svc-login-'))
  rootPath = join(home, 'root.pem')
  await writeFile(rootPath, hub.rootPem)
})
afterEach(async () => {
  await hub[Symbol.asyncDispose]()
  await rm(home, { recursive: true })
})

const HUB_OPTIONS = (): string[] => ['--hub', hub.url, '--hub-ca', rootPath]

function svc(args: readonly string[], input = '', env = {}): Promise<Ended> {
  return runSvcHere(args, { HOME: home, ...env }, input)
}

function paste(...args: string[]): Promise<Ended> {
  return svc(['login', ...HUB_OPTIONS(), '--no-browser', '--port', '8400', ...args], PASTED)
}

async function keptFiles(): Promise<string[]> {
  return readdir(join(home, '.config', 'cartorio', 'logins')).catch(() => [])
}

const countOf = (route: SignInRoute): number =>
  hub.asked.filter((asked) => asked.route === route).length

test('[CLI-184] [OID-30] [OID-33] [OID-36] [OID-37] [OID-39] [OID-40] what a person sees who signs in, works and signs out', async () => {
  const otherPath = join(home, 'other.pem')
  await writeFile(otherPath, (await createFakeCa()).rootPem)
  const env = { HOME: home, HUB: hub.url, ROOT: rootPath, OTHER: otherPath }
  const steps = parseTranscript(
    await readFile(new URL('login.script.txt', import.meta.url), 'utf8'),
  )
  assert.ok(steps.length > 10)
  for (const { command, expected } of steps) {
    const outcome = await runInShellHere(command, env)
    const seen = renderOutcome(outcome, home).replaceAll(hub.url, '<hub>')
    assert.equal(seen, expected, `$ ${command}`)
  }
  assert.deepEqual([...hub.good], [], 'each token was revoked')
})

describe('[OID-31] a sign-in by the browser', () => {
  let tools: string
  beforeEach(async () => {
    tools = join(home, 'tools')
    await mkdir(tools)
    // What it was started with, as anybody on the machine can see it, and what came with its environment.
    const browser = `#!/bin/sh\ntr '\\0' ' ' < /proc/$$/cmdline > "${home}/seen"\nenv > "${home}/env"\ncp "$1" "${home}/page"\nstat -c '%a %n' "$1" "$(dirname "$1")" > "${home}/modes"\ntouch "${home}/started"\n`
    await writeFile(join(tools, 'xdg-open'), browser)
    await chmod(join(tools, 'xdg-open'), 0o755)
  })

  function startLogin(...args: string[]): RunningProgram {
    return startProgram('svc', ['login', ...HUB_OPTIONS(), ...args], {
      HOME: home,
      TMPDIR: home,
      DISPLAY: ':0',
      PATH: `${tools}:${process.env['PATH'] ?? ''}`,
      SVC_MASTER_PASSPHRASE: 'of nobody else',
    })
  }

  const waitForPage = async (): Promise<URL> => {
    await waitUntil(
      'the browser',
      async () => (await stat(join(home, 'started')).catch(() => undefined)) && true,
    )
    const page = await readFile(join(home, 'page'), 'utf8')
    const [, url = ''] = /content="0;url=([^"]+)">/.exec(page) ?? []
    return new URL(url.replaceAll('&amp;', '&'))
  }

  const browse = async (address: URL): Promise<{ status: number; page: string }> => {
    const request = get(address, { agent: false })
    const [response] = await once(request, 'response')
    return { status: response.statusCode, page: await text(response) }
  }

  const callbackOf = (authorization: URL, fields: Record<string, string>): URL => {
    const callback = new URL(authorization.searchParams.get('redirect_uri') ?? '')
    callback.search = new URLSearchParams(fields).toString()
    return callback
  }

  test('ends with a login, and neither argument, environment nor file tells others of it', async () => {
    const running = startLogin()
    const authorization = await waitForPage()
    assert.equal(authorization.origin, 'https://sso.example.org')
    const stranger = callbackOf(authorization, { code: 'theirs', state: 'guessed' })
    assert.equal((await browse(stranger)).status, 404)
    const shown = await browse(callbackOf(authorization, { code: 'good-code', state: STATE }))
    assert.equal(shown.status, 200)
    assert.match(shown.page, /You are signed in\. Close this tab/)
    const { status, stdout, stderr } = await running.ended
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^name +alice@example\.org$/m)
    assert.match(
      stderr,
      /^Sign in at Example SSO in your browser\. .*\nhttps:\/\/sso\.example\.org\/authorize\?\S+\nwaiting up to 10 minutes for Example SSO; Ctrl-C ends it\n$/,
    )
    const [token = ''] = hub.good
    const { secret } = hub.asked.find(({ route }) => route === 'finish')?.body ?? {}
    assert.match(String(secret), /^[\w-]{43}$/)
    const seen = await readFile(join(home, 'seen'), 'utf8')
    const environment = await readFile(join(home, 'env'), 'utf8')
    for (const hidden of [token, String(secret), STATE, 'sso.example.org', 'of nobody else']) {
      for (const place of [seen, environment]) assert.ok(!place.includes(hidden), hidden)
      assert.ok(
        hidden === STATE || hidden === 'sso.example.org' || !`${stdout}${stderr}`.includes(hidden),
      )
    }
    assert.match(seen, /sign-in\.html $/)
    assert.match(await readFile(join(home, 'modes'), 'utf8'), /^600 .*\n700 .*\n$/)
    assert.deepEqual(
      (await readdir(home)).filter((name) => name.startsWith('svc-browser-')),
      [],
    )
    const login = join(home, '.config', 'cartorio', 'logins', (await keptFiles())[0] ?? '')
    assert.equal((await stat(login)).mode & 0o777, 0o600)
    assert.ok((await readFile(login, 'utf8')).includes(token))
  })

  test('has the port of --port, and says when another program has it', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    const { status, stderr } = await startLogin('--port', String(port)).ended
    assert.equal(status, 1)
    assert.match(stderr, new RegExp(`another program has port ${port} of 127`))
    assert.equal(countOf('start'), 0)
    holder.close()
    await once(holder, 'close')
    const running = startLogin('--port', String(port))
    const authorization = await waitForPage()
    assert.equal(
      authorization.searchParams.get('redirect_uri'),
      `http://127.0.0.1:${port}/callback`,
    )
    await browse(callbackOf(authorization, { code: 'good-code', state: STATE }))
    assert.equal((await running.ended).status, 0)
  })

  test('shows a refusal in the browser as in the terminal', async () => {
    const refused = startLogin()
    const first = await waitForPage()
    const said = await browse(
      callbackOf(first, { error: 'access_denied', error_description: '<b>no</b>', state: STATE }),
    )
    assert.equal(said.status, 400)
    assert.match(
      said.page,
      /the provider refused the sign-in: access_denied: &lt;b&gt;no&lt;\/b&gt;\./,
    )
    assert.match(
      (await refused.ended).stderr,
      /error: the provider refused the sign-in: access_denied: <b>no<\/b>\n/,
    )
    await rm(join(home, 'started'))
    hub.answers.set('finish', [403, { error: 'sign_in_no_role', message: 'no group has a role' }])
    const running = startLogin()
    const second = await browse(
      callbackOf(await waitForPage(), { code: 'good-code', state: STATE }),
    )
    assert.equal(second.status, 400)
    assert.match(second.page, /no group has a role/)
    const { status, stderr } = await running.ended
    assert.equal(status, 1)
    assert.match(stderr, /error: no group has a role\nsvc: hint: SVC_OIDC_ROLES of the hub says/)
    assert.deepEqual(await keptFiles(), [])
  })

  test('leaves no address behind when a person ends it', async () => {
    const running = startLogin()
    await waitForPage()
    await waitUntil('svc to wait', () => running.stderr().includes('waiting up to') || undefined)
    running.kill('SIGINT')
    const { signal } = await running.ended
    assert.equal(signal, 'SIGINT')
    assert.deepEqual(
      (await readdir(home)).filter((name) => name.startsWith('svc-browser-')),
      [],
    )
  })

  test('goes on without a browser that can be started', async () => {
    await rm(join(tools, 'xdg-open'))
    // Whatever else this machine has, a browser must not be started.
    for (const tool of ['dirname', 'readlink', 'env', 'node']) {
      await symlink(findTool(tool) ?? '', join(tools, tool))
    }
    const running = startProgram('svc', ['login', ...HUB_OPTIONS()], {
      HOME: home,
      TMPDIR: home,
      WAYLAND_DISPLAY: 'wayland-0',
      PATH: tools,
    })
    const [, address = ''] = await waitUntil(
      'svc to wait',
      () =>
        /^(https:\S+)\nno browser was started: xdg-open: spawn xdg-open ENOENT\nwaiting/m.exec(
          running.stderr(),
        ) ?? undefined,
    )
    await browse(callbackOf(new URL(address), { code: 'good-code', state: STATE }))
    assert.equal((await running.ended).status, 0)
  })
})

describe('[OID-33] through SSH', () => {
  test(
    'svc asks for the address by itself, and shows what is pasted',
    { skip: findTerminalFault() },
    async () => {
      const { screen, exitStatus } = await runOnTerminal(
        `svc login --hub ${hub.url} --hub-ca ${rootPath} --port 8400`,
        { HOME: home, DISPLAY: ':10', SSH_CONNECTION: '192.0.2.7 1 192.0.2.8 22' },
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
    const { status, stderr } = await svc(
      ['login', ...HUB_OPTIONS(), '--no-browser', '--port', '8400'],
      `${long}\n`,
    )
    assert.equal(status, 0, stderr)
  })
})

describe('[OID-37] a login that is there', () => {
  test('is renewed in its last hour, and the earlier token revoked', async () => {
    hub.expiresAt = new Date(Date.now() + 59 * 60_000)
    await paste()
    const [first] = hub.good
    hub.expiresAt = new Date(Date.now() + 12 * 3_600_000)
    await paste()
    const [second, ...others] = hub.good
    assert.notEqual(second, first)
    assert.deepEqual(others, [])
    assert.equal((await keptFiles()).length, 1)
    await paste()
    assert.deepEqual([...hub.good], [second], 'now it is good for longer')
  })

  test('is made again when the hub has ended it, or by another root', async () => {
    await paste()
    hub.good.clear()
    const { status } = await paste()
    assert.equal(status, 0)
    assert.equal(hub.good.size, 1)
    const [token] = hub.good
    const otherPath = join(home, 'other.pem')
    await writeFile(otherPath, ca.rootPem + ca.intermediatePem)
    const again = await svc(
      ['login', '--hub', hub.url, '--hub-ca', otherPath, '--no-browser', '--port', '8400'],
      PASTED,
    )
    assert.equal(again.status, 0, again.stderr)
    assert.ok(!hub.good.has(token ?? ''))
  })

  test('is sent to its own hub alone', async () => {
    await paste()
    await using other = await startSignInHub({ ca, state: STATE })
    const { status, stderr } = await svc([
      '--hub',
      other.url,
      '--hub-ca',
      rootPath,
      'agent',
      'list',
    ])
    assert.equal(status, 1)
    assert.match(stderr, /nobody is signed in at/)
    assert.deepEqual(other.asked, [])
  })
})

describe('[OID-38] a sign-in that fails says what helps', () => {
  const failures: readonly (readonly [SignInRoute, number, object | string, RegExp])[] = [
    [
      'provider',
      401,
      { error: 'admin_token_invalid', message: 'no' },
      /lets nobody sign in by an OpenID provider\nsvc: hint: SVC_OIDC_ISSUER and SVC_OIDC_CLIENT_ID/,
    ],
    ['provider', 200, '<html>', /its answer does not come from a Cartorio hub/],
    ['provider', 200, { issuer: 7 }, /its answer is none to a sign-in/],
    [
      'start',
      503,
      { error: 'sign_in_provider_unavailable', message: 'the provider does not answer' },
      /the provider does not answer\nsvc: hint: the hub cannot reach the provider: svc doctor/,
    ],
    [
      'start',
      200,
      { url: 'javascript:alert(1)//?state=x', expires_at: '2026-11-21T10:00:00Z' },
      /names no https address/,
    ],
    [
      'start',
      200,
      { url: 'file:///etc/passwd?state=x', expires_at: '2026-11-21T10:00:00Z' },
      /names no https address/,
    ],
    [
      'start',
      200,
      { url: 'https://sso.example.org/?x', expires_at: '2026-11-21T10:00:00Z' },
      /names no https address/,
    ],
    [
      'start',
      200,
      {
        url: `https://sso.example.org/?state=${'x'.repeat(70_000)}`,
        expires_at: '2026-11-21T10:00:00Z',
      },
      /reply is too large/,
    ],
    [
      'start',
      429,
      { error: 'rate_limited', message: 'no' },
      /too many sign-ins.*\nsvc: hint: try again in/,
    ],
    [
      'finish',
      401,
      { error: 'sign_in_provider_refused', message: 'the provider says\u001b[2J no' },
      /the provider says\?\[2J no\nsvc: hint: the hub’s log says more; compare the clocks/,
    ],
    [
      'finish',
      401,
      { error: 'sign_in_state_invalid', message: 'the sign-in took too long' },
      /the sign-in took too long\nsvc: hint: a sign-in has ten minutes: svc login --hub/,
    ],
    [
      'finish',
      403,
      { error: 'sign_in_no_role', message: 'no role for you' },
      /no role for you\nsvc: hint: SVC_OIDC_ROLES of the hub says which groups have a role/,
    ],
    [
      'finish',
      409,
      { error: 'sign_in_name_taken', message: 'taken' },
      /taken\nsvc: hint: an admin sees in svc admin token list who has the name/,
    ],
    [
      'finish',
      403,
      { error: 'sign_in_name_invalid', message: 'a strange name' },
      /a strange name\nsvc: hint: SVC_OIDC_NAME_CLAIM of the hub says/,
    ],
    ['finish', 200, { token: 'svct_x' }, /its answer is none to a sign-in/],
  ]
  for (const [route, status, body, expected] of failures) {
    test(`${route} answers ${status} ${JSON.stringify(body).slice(0, 60)}`, async () => {
      hub.answers.set(route, [status, body])
      const ended = await paste()
      assert.equal(ended.status, 1)
      assert.match(ended.stderr, expected)
      assert.equal(ended.stdout, '')
      assert.deepEqual(await keptFiles(), [])
    })
  }

  test('a connection that breaks', async () => {
    hub.answers.set('finish', undefined)
    assert.match((await paste()).stderr, /the connection to https:\S+ broke/)
  })

  test('a hub that is away', async () => {
    const away = ['--hub', 'https://127.0.0.1:1', '--hub-ca', rootPath]
    assert.match((await svc(['login', ...away])).stderr, /cannot reach https:\/\/127\.0\.0\.1:1: /)
  })

  test('a place that others can write to, before anybody signs in', async () => {
    await mkdir(join(home, '.config', 'cartorio', 'logins'), { recursive: true, mode: 0o700 })
    await chmod(join(home, '.config', 'cartorio'), 0o777)
    assert.match((await paste()).stderr, /svc keeps no login in .*: it is below a directory/)
    assert.equal(hub.asked.length, 0)
  })

  test('a clock that is wrong', async () => {
    hub.clockAheadMs = -3_600_000
    assert.match(
      (await paste()).stderr,
      /svc: the clock of this machine is 60 min ahead of that of the hub: set it right/,
    )
    await svc(['logout'])
    hub.clockAheadMs = -13 * 3_600_000
    hub.expiresAt = new Date(Date.now() - 3_600_000)
    const { status, stderr } = await paste()
    assert.equal(status, 1)
    assert.match(
      stderr,
      /error: the login is over by the clock of this machine\nsvc: hint: the clock of this machine is 780 min ahead of that of the hub/,
    )
    assert.deepEqual(await keptFiles(), [])
    assert.deepEqual([...hub.good], [])
  })
})

describe('[OID-39] a logout', () => {
  test('removes the login also when the hub is away, and says that its token works on', async () => {
    await paste()
    hub.answers.set('revoke', undefined)
    const { status, stdout, stderr } = await svc(['logout'])
    assert.equal(status, 1)
    assert.equal(stdout, `signed out at ${hub.url} on this machine alone\n`)
    assert.match(
      stderr,
      /did not revoke the token of alice@example\.org, which works there until .*: the connection to https:\S+ broke.*\nsvc: hint: an admin ends it at once: svc admin token revoke alice@example\.org\n$/,
    )
    assert.deepEqual(await keptFiles(), [])
    assert.equal((await svc(['logout'])).stdout, 'nobody was signed in\n')
  })

  test('is no failure when the hub has ended the login before', async () => {
    await paste()
    hub.good.clear()
    const { status, stdout } = await svc(['logout', '--json'])
    assert.equal(status, 0)
    assert.deepEqual(JSON.parse(stdout).logins[0].revoked, true)
  })

  test('of all hubs ends each, the ones that can be asked at the hub too', async () => {
    await using other = await startSignInHub({ ca, state: STATE })
    await paste()
    await svc(
      ['login', '--hub', other.url, '--hub-ca', rootPath, '--no-browser', '--port', '8400'],
      PASTED,
    )
    assert.match((await svc(['whoami'])).stderr, /name the hub with --hub: there are logins at /)
    hub.answers.set('revoke', undefined)
    const { status, stdout } = await svc(['logout', '--all'])
    assert.equal(status, 1)
    assert.equal(stdout.split('\n').length, 3)
    assert.deepEqual([other.good.size, (await keptFiles()).length], [0, 0])
  })
})
