// `svc login` with a real hub and a real provider, from the first line to the last; a small client of HTTP does what a browser would. What
// goes wrong is in test/cli/login.test.ts.

import assert from 'node:assert/strict'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { get } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runSvc } from '../../src/admin/run-svc.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { packConsole } from '../../tools/build/console-bundle.ts'
import { placeConsole } from '../../tools/build/place-console.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { type TestHub, WITH_ADMIN_PORT } from '../support/hub.ts'
import { type RunningProvider, startOpenidProvider } from '../support/openid-provider.ts'
import { type Ended, type RunningProgram, startProgram, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { startTestHub } from '../support/test-hub.ts'

const PASTE_PORT = 8400

const stack = new AsyncDisposableStack()
let provider: RunningProvider
let hub: TestHub
let url: string
let rootPath: string
let environment: Record<string, string>
before(async () => {
  await placeConsole(await packConsole())
  // A provider takes any port of loopback from a native program: RFC 8252, section 7.3.
  provider = stack.use(await startOpenidProvider({ redirectUris: ['http://127.0.0.1/callback'] }))
  Object.assign(provider.accounts, {
    'id-alice': { email: 'alice@example.org', email_verified: true, groups: ['admins'] },
    'id-bob': { email: 'bob@example.org', groups: ['stage'] },
    'id-carol': { email: 'carol@example.org', groups: [] },
  })
  const ca = stack.use(await startDevCa())
  rootPath = ca.rootPath
  const providerRoot = `${rootPath}.provider.pem`
  await writeFile(providerRoot, provider.rootPem)
  hub = stack.use(
    await startTestHub({
      caEnvironment: ca.environment,
      environment: {
        ...WITH_ADMIN_PORT,
        SVC_SERVER_CN: 'localhost',
        SVC_OIDC_ISSUER: provider.issuer,
        SVC_OIDC_CLIENT_ID: provider.clientId,
        SVC_OIDC_CLIENT_SECRET: provider.clientSecret,
        SVC_OIDC_CA_PATH: providerRoot,
        SVC_OIDC_NAME: 'Example SSO',
        SVC_OIDC_ROLES: 'admin=admins; operator[env=stage]=stage',
      },
    }),
  )
  url = `https://localhost:${hub.ports.admin ?? 0}`
  const home = join(hub.directory, 'home')
  const tools = join(hub.directory, 'tools')
  await mkdir(home)
  await mkdir(tools)
  await writeFile(join(tools, 'xdg-open'), '#!/bin/sh\n')
  await chmod(join(tools, 'xdg-open'), 0o755)
  environment = { HOME: home, DISPLAY: ':0', PATH: `${tools}:${process.env['PATH'] ?? ''}` }
})
after(() => stack.disposeAsync())

const svc = (...args: string[]): Promise<Ended> => runSvcHere(args, environment)

/** The address that svc shows, and what becomes of it. */
async function signInBy(running: RunningProgram, subject: string): Promise<string> {
  const [authorization = ''] = await waitUntil(
    'svc to show an address',
    () => /^https:\S+$/m.exec(running.stderr()) ?? undefined,
  )
  const [response] = await once(get(await provider.visit(authorization, subject)), 'response')
  return text(response)
}

async function lastActs(...types: string[]): Promise<readonly unknown[][]> {
  const { eventos } = await hub.admin<{
    eventos: { tipo_evento: string; payload: Record<string, unknown> }[]
  }>('POST', '/v1/admin/eventos/list', { last: 50 })
  return eventos
    .filter(({ tipo_evento: type }) => types.includes(type))
    .map(({ tipo_evento: type, payload: { actor, name, by, reason } }) => [
      type,
      actor,
      name,
      by ?? reason,
    ])
}

describe('svc login with a real provider', () => {
  test('[OID-31] [OID-36] [OID-39] [OID-40] [OID-41] [OID-42] from a browser to commands, the console, and out again', async () => {
    const running = startProgram(
      'svc',
      ['login', '--hub', url, '--hub-ca', rootPath, '--json'],
      environment,
    )
    assert.match(await signInBy(running, 'id-alice'), /You are signed in\. Close this tab/)
    const { status, stdout, stderr } = await running.ended
    assert.equal(status, 0, stderr)
    const { expires_at: end, ...made } = JSON.parse(stdout) as Record<string, string>
    assert.deepEqual(made, {
      hub: url,
      name: 'alice@example.org',
      role: 'admin',
      only: null,
      provider: 'Example SSO',
      issuer: provider.issuer,
      is_new: true,
    })
    assert.ok(Date.parse(end ?? '') > Date.now() + 11 * 3_600_000)

    const listed = await svc('--hub', url, 'admin', 'token', 'list')
    assert.match(listed.stdout, /alice@example\.org +admin +good/)
    const shown = JSON.parse((await svc('whoami', '--json')).stdout) as Record<string, string>
    assert.deepEqual(
      [shown['name'], shown['role'], shown['issuer'], shown['expires_at']],
      ['alice@example.org', 'admin', provider.issuer, end],
    )
    const served = await svc('--hub', url, 'console')
    assert.match(served.stdout, /^the console of https:\/\/localhost:\d+, until Ctrl-C: http:/)

    const login = join(
      environment['HOME'] ?? '',
      `.config/cartorio/logins/localhost_${hub.ports.admin}.json`,
    )
    const { token } = JSON.parse(await readFile(login, 'utf8')) as { token: string }
    assert.equal((await svc('logout')).stdout, `signed out at ${url}, as alice@example.org\n`)
    const copied = join(hub.directory, 'copied')
    await writeFile(copied, token, { mode: 0o600 })
    const refused = await svc('--hub', url, '--token-file', copied, '--hub-ca', rootPath, 'whoami')
    assert.match(refused.stderr, /the hub does not accept the token of/)
    assert.deepEqual(await lastActs('admin_token_created', 'admin_token_revoked'), [
      ['admin_token_created', 'token:alice@example.org', 'alice@example.org', 'oidc'],
      ['admin_token_revoked', 'token:alice@example.org', 'alice@example.org', 'signed_out'],
    ])
    assert.ok(!hub.logText().includes(token))
  })

  test('[OID-33] [OID-40] by an address that is pasted, with the hosts of a role that has some', async () => {
    const stdin = new PassThrough()
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    let shown = ''
    stderr.setEncoding('utf8').on('data', (more: string) => {
      shown += more
    })
    const { DISPLAY: _display, ...headless } = environment
    const running = runSvc({
      args: ['login', '--hub', url, '--hub-ca', rootPath, '--port', String(PASTE_PORT)],
      env: headless,
      stdin,
      stdout,
      stderr,
      clock: systemClock,
      progress: { show: () => undefined, clear: () => undefined },
      ask: undefined,
      userId: process.getuid?.(),
      command: [],
      untilEnded: () => new Promise(() => undefined),
    })
    const authorization = await waitUntil(
      'svc to show an address',
      () => /^https:\S+$/m.exec(shown)?.[0],
    )
    const end = await provider.visit(authorization, 'id-bob')
    assert.equal(end.host, `127.0.0.1:${PASTE_PORT}`)
    stdin.write(`${end.href}\n`)
    assert.equal(await running, 0, shown)
    const known = await svc('whoami')
    assert.match(known.stdout, /^role +operator\nonly +env=stage$/m)
    const bounded = await svc('--hub', url, 'load', 'list')
    assert.match(bounded.stderr, /anything else needs a token without --only/)
    assert.equal((await svc('logout')).status, 0)
  })

  test('[OID-38] whom no group gives a role is told so, in the browser and on the terminal', async () => {
    const running = startProgram('svc', ['login', '--hub', url, '--hub-ca', rootPath], environment)
    assert.match(
      await signInBy(running, 'id-carol'),
      /the provider signed carol@example\.org in, who has no role at this hub\. The terminal says more\./,
    )
    const { status, stderr } = await running.ended
    assert.equal(status, 1)
    assert.match(
      stderr,
      /error: the provider signed carol@example\.org in, who has no role at this hub\nsvc: hint: SVC_OIDC_ROLES of the hub says which groups have a role/,
    )
  })
})
