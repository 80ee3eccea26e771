// A sign-in by the browser: what the machine's other users can see of it, and do about it.

import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, test } from 'node:test'
import { type RunningProgram, startProgram, waitUntil } from '../support/processes.ts'
import { findTool } from '../support/tools.ts'
import { STATE, useLoginScene } from './login-scene.ts'

const used = useLoginScene()

describe('[OID-31] a sign-in by the browser', () => {
  let tools: string
  beforeEach(async () => {
    tools = join(used.scene.home, 'tools')
    await mkdir(tools)
    // What it was started with, as anybody on the machine can see it, and what came with its environment.
    const browser = `#!/bin/sh\ntr '\\0' ' ' < /proc/$$/cmdline > "${used.scene.home}/seen"\nenv > "${used.scene.home}/env"\ncp "$1" "${used.scene.home}/page"\nstat -c '%a %n' "$1" "$(dirname "$1")" > "${used.scene.home}/modes"\ntouch "${used.scene.home}/started"\n`
    await writeFile(join(tools, 'xdg-open'), browser)
    await chmod(join(tools, 'xdg-open'), 0o755)
  })

  function startLogin(...args: string[]): RunningProgram {
    return startProgram('svc', ['login', ...used.scene.hubOptions, ...args], {
      HOME: used.scene.home,
      TMPDIR: used.scene.home,
      DISPLAY: ':0',
      PATH: `${tools}:${process.env['PATH'] ?? ''}`,
      SVC_MASTER_PASSPHRASE: 'of nobody else',
    })
  }

  const waitForPage = async (): Promise<URL> => {
    await waitUntil(
      'the browser',
      async () => (await stat(join(used.scene.home, 'started')).catch(() => undefined)) && true,
    )
    const page = await readFile(join(used.scene.home, 'page'), 'utf8')
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
    const [token = ''] = used.scene.hub.good
    const { secret } = used.scene.hub.asked.find(({ route }) => route === 'finish')?.body ?? {}
    assert.match(String(secret), /^[\w-]{43}$/)
    const seen = await readFile(join(used.scene.home, 'seen'), 'utf8')
    const environment = await readFile(join(used.scene.home, 'env'), 'utf8')
    for (const hidden of [token, String(secret), STATE, 'sso.example.org', 'of nobody else']) {
      for (const place of [seen, environment]) assert.ok(!place.includes(hidden), hidden)
      assert.ok(
        hidden === STATE || hidden === 'sso.example.org' || !`${stdout}${stderr}`.includes(hidden),
      )
    }
    assert.match(seen, /sign-in\.html $/)
    assert.match(await readFile(join(used.scene.home, 'modes'), 'utf8'), /^600 .*\n700 .*\n$/)
    assert.deepEqual(
      (await readdir(used.scene.home)).filter((name) => name.startsWith('svc-browser-')),
      [],
    )
    const login = join(
      used.scene.home,
      '.config',
      'cartorio',
      'logins',
      (await used.scene.keptFiles())[0] ?? '',
    )
    assert.equal((await stat(login)).mode & 0o777, 0o600)
    assert.ok((await readFile(login, 'utf8')).includes(token))
  })

  test('[OID-35] leaves no token at the hub that could not be kept here', async () => {
    const running = startLogin()
    const authorization = await waitForPage()
    await chmod(join(used.scene.home, '.config', 'cartorio', 'logins'), 0o777)
    await browse(callbackOf(authorization, { code: 'good-code', state: STATE }))
    const { status, stderr } = await running.ended
    assert.equal(status, 1)
    assert.match(stderr, /svc keeps no login in .*: it is open to others/)
    assert.deepEqual([...used.scene.hub.good], [])
    assert.equal(used.scene.countOf('revoke'), 1)
  })

  test('has the port of --port, and says when another program has it', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    const { status, stderr } = await startLogin('--port', String(port)).ended
    assert.equal(status, 1)
    assert.match(stderr, new RegExp(`another program has port ${port} of 127`))
    assert.equal(used.scene.countOf('start'), 0)
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
    await rm(join(used.scene.home, 'started'))
    used.scene.hub.answers.set('finish', [
      403,
      { error: 'sign_in_no_role', message: 'no group has a role' },
    ])
    const running = startLogin()
    const second = await browse(
      callbackOf(await waitForPage(), { code: 'good-code', state: STATE }),
    )
    assert.equal(second.status, 400)
    assert.match(second.page, /no group has a role/)
    const { status, stderr } = await running.ended
    assert.equal(status, 1)
    assert.match(stderr, /error: no group has a role\nsvc: hint: SVC_OIDC_ROLES of the hub says/)
    assert.deepEqual(await used.scene.keptFiles(), [])
  })

  test('leaves no address behind when a person ends it', async () => {
    const running = startLogin()
    await waitForPage()
    await waitUntil('svc to wait', () => running.stderr().includes('waiting up to') || undefined)
    running.kill('SIGINT')
    const { signal } = await running.ended
    assert.equal(signal, 'SIGINT')
    assert.deepEqual(
      (await readdir(used.scene.home)).filter((name) => name.startsWith('svc-browser-')),
      [],
    )
  })

  test('goes on without a browser that can be started', async () => {
    await rm(join(tools, 'xdg-open'))
    // Whatever else this machine has, a browser must not be started.
    for (const tool of ['dirname', 'readlink', 'env', 'node']) {
      await symlink(findTool(tool) ?? '', join(tools, tool))
    }
    const running = startProgram('svc', ['login', ...used.scene.hubOptions], {
      HOME: used.scene.home,
      TMPDIR: used.scene.home,
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
