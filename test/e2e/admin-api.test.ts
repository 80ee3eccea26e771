// Operators who are not on the hub's machine: `svc --hub`, with admin tokens, over HTTPS, on real processes.

import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { type TestHub, WITH_ADMIN_PORT } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { type Ended, runProgram, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import type { RunningCa } from '../support/running-ca.ts'

interface Entry {
  readonly tipo_evento: string
  readonly payload: Readonly<Record<string, unknown>>
}

let ca: RunningCa
let hub: TestHub
const tokenFiles: Record<string, string> = {}

before(async () => {
  ca = await startDevCa()
  hub = await startTestHub({
    caEnvironment: ca.environment,
    environment: { ...WITH_ADMIN_PORT, SVC_SERVER_CN: 'localhost' },
  })
  for (const role of ['viewer', 'operator', 'admin']) await createToken(role, role)
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
  await ca?.[Symbol.asyncDispose]()
})

/** As an admin makes it on the hub's machine, and its user keeps it elsewhere. */
async function createToken(name: string, role: string, ttl = '1h'): Promise<string> {
  const args = ['admin', 'token', 'create', '--name', name, '--role', role, '--ttl', ttl, '--json']
  const made = await hub.svc(...args)
  assert.equal(made.status, 0, made.stderr)
  return keep(name, (JSON.parse(made.stdout) as { token: string }).token)
}

async function keep(name: string, token: string): Promise<string> {
  const path = join(hub.directory, `${name}.token`)
  await writeFile(path, `${token}\n`, { mode: 0o600 })
  tokenFiles[name] = path
  return path
}

/** On a machine that has neither vault nor passphrase. */
function svcAs(name: string, ...args: string[]): Promise<Ended> {
  return runSvcHere(args, {
    HOME: hub.directory,
    SVC_HUB: `https://localhost:${hub.ports.admin ?? 0}`,
    SVC_HUB_TOKEN_FILE: tokenFiles[name] ?? '',
    SVC_HUB_CA: ca.rootPath,
  })
}

async function succeeds(name: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await svcAs(name, ...args)
  assert.deepEqual([status, stderr], [0, ''], args.join(' '))
  return stdout
}

async function fails(name: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await svcAs(name, ...args)
  assert.deepEqual([status, stdout], [1, ''], args.join(' '))
  return stderr
}

async function entries(type: string): Promise<Entry[]> {
  const text = await succeeds('viewer', 'evento', 'list', '--tipo', type, '--json')
  return (JSON.parse(text) as { eventos: Entry[] }).eventos
}

test('[API-8] [API-12] [API-23] a viewer looks, is refused what changes anything, and that is recorded', async () => {
  const beside = await hub.svc('token', 'list', '--json')
  assert.equal(await succeeds('viewer', 'token', 'list', '--json'), beside.stdout)
  assert.match(await succeeds('viewer', 'evento', 'list', '--verify'), /hash chain ok: \d+ entries/)
  assert.equal(
    await fails('viewer', 'token', 'create', '--hostname', 'web-1.example', '--role', 'web'),
    'svc: error: the role of the admin token does not allow this operation\nsvc: hint: it needs an admin token of the role operator\n',
  )
  const refused = await entries('admin_refused')
  assert.deepEqual(
    refused.map(({ payload }) => payload),
    [
      {
        actor: 'token:viewer',
        reason: 'role_insufficient',
        address: '127.0.0.1',
        operation: 'createToken',
        count: 1,
      },
    ],
  )
})

test('[API-2] [API-16] [API-20] [API-22] an operator enrols a host and delivers to it, and the log says who', async () => {
  const made = JSON.parse(
    await succeeds(
      'operator',
      'token',
      'create',
      '--hostname',
      'web-1.example',
      '--role',
      'web',
      '--json',
    ),
  ) as { token: string }
  assert.match(made.token, /^svct_/)
  const host = await enrollHost(hub, 'web-2.example')
  const cargo = JSON.parse(
    await succeeds(
      'operator',
      'carga',
      'create',
      '--tipo',
      'csr_cert',
      '--nome',
      'site',
      '--agente',
      host.hostname,
      '--json',
    ),
  ) as { carga_id: string }
  const update = ['carga', 'update', cargo.carga_id, '--if-versao', '1']
  assert.match(await succeeds('operator', ...update), /is now version 2\n/)
  assert.match(await fails('operator', ...update), /has version 2 now\nsvc: hint: somebody else/)
  await succeeds('operator', 'agente', 'revoke', host.hostname)
  assert.match(
    await fails('operator', 'agente', 'remove', host.hostname),
    /hint: it needs an admin token of the role admin\n$/,
  )
  await succeeds('admin', 'agente', 'remove', host.hostname)
  for (const [type, actor] of [
    ['carga_created', 'token:operator'],
    ['carga_updated', 'token:operator'],
    ['agent_revoked', 'token:operator'],
    ['agent_removed', 'token:admin'],
  ] as const) {
    assert.deepEqual(
      (await entries(type)).map(({ payload }) => payload['actor']),
      [actor],
      type,
    )
  }
})

test('[API-10] [API-21] [API-23] forged, expired, revoked and careless tokens get nowhere', async () => {
  await keep('forged', `svca_${'A'.repeat(43)}`)
  await createToken('brief', 'admin', '1s')
  await createToken('ended', 'admin')
  await succeeds('admin', 'admin', 'token', 'revoke', 'ended')
  const isRefused =
    /^svc: error: the hub does not accept the token of \S+: it is unknown, expired or revoked\nsvc: hint: /
  assert.match(await fails('forged', 'token', 'list'), isRefused)
  assert.match(await fails('ended', 'token', 'list'), isRefused)
  await waitUntil('the token to expire', async () =>
    (await svcAs('brief', 'token', 'list')).status === 1 ? true : undefined,
  )
  assert.match(await fails('brief', 'token', 'list'), isRefused)
  const careless = await createToken('careless', 'viewer')
  await chmod(careless, 0o644)
  assert.match(await fails('careless', 'token', 'list'), /is open to others\nsvc: hint: chmod 600 /)
  const listed = await succeeds('admin', 'admin', 'token', 'list')
  assert.match(listed, /brief +admin +expired/)
  assert.match(listed, /ended +admin +revoked/)
  assert.doesNotMatch(listed, /svca_/)
  assert.doesNotMatch(hub.logText(), /svca_/)
})

test('[API-20] [API-23] what is no admin port of a trusted hub is told apart', async () => {
  const ports = hub.ports
  const failsAt = async (url: string, caPath: string | undefined): Promise<string> => {
    const { status, stderr } = await runProgram('svc', ['token', 'list'], {
      SVC_HUB: url,
      SVC_HUB_TOKEN_FILE: tokenFiles['viewer'] ?? '',
      ...(caPath === undefined ? {} : { SVC_HUB_CA: caPath }),
    })
    assert.equal(status, 1, url)
    return stderr
  }
  const adminPort = ports.admin ?? 0
  assert.match(
    await failsAt(`https://localhost:${adminPort}`, undefined),
    /svc does not trust the certificate of .*\nsvc: hint: --hub-ca /,
  )
  assert.match(
    await failsAt(`https://127.0.0.1:${adminPort}`, ca.rootPath),
    /has other names: .*\nsvc: hint: .*SVC_SERVER_SANS/,
  )
  assert.match(
    await failsAt(`https://localhost:${ports.mtls}`, ca.rootPath),
    /does not speak TLS as the admin port does\n/,
  )
  assert.match(
    await failsAt(`https://localhost:${ports.health}`, ca.rootPath),
    /does not speak TLS as the admin port does\n/,
  )
  assert.match(
    await failsAt(ca.url.replace('127.0.0.1', 'localhost'), ca.rootPath),
    /does not come from a Cartorio hub\n|other names/,
  )
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  assert.match(
    await failsAt(`https://localhost:${port}`, ca.rootPath),
    /^svc: error: cannot reach https:\/\/localhost:/,
  )
  for (const command of [['unseal'], ['init']]) {
    assert.match(await fails('admin', ...command), /works on the vault itself, not on a hub\n/)
  }
})
