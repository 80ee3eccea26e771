// The OpenAPI description against a real hub: schemathesis sends what it allows, and what it does not, to every operation.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ensureSchemathesis } from '../../tools/install-schemathesis.ts'
import { ADMIN_OPERATIONS } from '../../src/protocol/admin/operations.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import { type TestHub, WITH_ADMIN_PORT } from '../support/hub.ts'
import { type RunningProvider, startOpenidProvider } from '../support/openid-provider.ts'
import { startTestHub } from '../support/test-hub.ts'
import type { RunningCa } from '../support/running-ca.ts'

/** Nothing is told to wait: each request reaches what it is about. */
const UNLIMITED = {
  SVC_LIMIT_ENROLL_FAILURES: '0',
  SVC_LIMIT_EVENTS: '0',
  SVC_LIMIT_EVENT_BYTES: '0',
  SVC_LIMIT_ISSUE: '0',
  SVC_LIMIT_ADMIN_FAILURES: '0',
}
/** What a schema cannot say (a name that is taken, a CSR that does not parse) is refused all the same; a list that is too
 * long may be a body that is too large. */
const CONFIG = `
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 401, 403, 404, 409, 412]

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 409, 412, 413, 415]
`
const DESCRIPTION = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url))
const HOOKS = fileURLToPath(new URL('hang-up-on-streams.py', import.meta.url))
const EXAMPLES = 10
const RUN_MS_MAX = 110_000
const SEED = 20261121

const schemathesis = await ensureSchemathesis()
const skip = schemathesis === undefined && 'schemathesis could not be installed'

let ca: RunningCa
let provider: RunningProvider
let hub: TestHub
let host: EnrolledHost
let token: string

before(async () => {
  if (schemathesis === undefined) return
  ca = await startDevCa()
  provider = await startOpenidProvider({ redirectUris: ['http://127.0.0.1/callback'] })
  const providerRootPath = join(dirname(ca.rootPath), 'provider.pem')
  await writeFile(providerRootPath, provider.rootPem)
  const environment = {
    ...UNLIMITED,
    ...WITH_ADMIN_PORT,
    SVC_SERVER_CN: 'localhost',
    SVC_OIDC_ISSUER: provider.issuer,
    SVC_OIDC_CLIENT_ID: provider.clientId,
    SVC_OIDC_CLIENT_SECRET: provider.clientSecret,
    SVC_OIDC_CA_PATH: providerRootPath,
    SVC_OIDC_ROLES: 'viewer=*',
  }
  hub = await startTestHub({ caEnvironment: ca.environment, environment })
  host = await enrollHost(hub, 'host.example')
  const request = { name: 'schemathesis', role: 'admin' }
  token = (await hub.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', request)).token
  await writeFile(join(hub.directory, 'config.toml'), CONFIG)
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
  await provider?.[Symbol.asyncDispose]()
  await ca?.[Symbol.asyncDispose]()
})

async function runAgainst(tag: string, url: string, ...args: string[]): Promise<void> {
  const [python = '', ...program] = schemathesis ?? []
  const all = [
    ...program,
    ...`--config-file ${join(hub.directory, 'config.toml')} --no-color`.split(' '),
    ...`run ${DESCRIPTION} --include-tag ${tag} --url ${url} --tls-verify ${ca.rootPath}`.split(
      ' ',
    ),
    ...`--checks all --phases examples,coverage,fuzzing,stateful --seed ${SEED}`.split(' '),
    ...`--max-examples ${EXAMPLES} --request-timeout 20 --warnings off`.split(' '),
    ...'--generation-database none'.split(' '),
    ...args,
  ]
  // It says on its standard output what failed, and leaves a cache where it runs.
  const failure = await new Promise<string | undefined>((resolve) => {
    const env = { ...process.env, SCHEMATHESIS_HOOKS: HOOKS }
    const options = { timeout: RUN_MS_MAX, cwd: hub.directory, env }
    execFile(python, all, options, (error, stdout, stderr) =>
      resolve(error === null ? undefined : `${stdout}${stderr}`),
    )
  })
  assert.equal(failure, undefined, failure)
}

test('[API-25] the health port is as described', { skip }, async () => {
  await runAgainst('health', `http://localhost:${hub.ports.health}`)
})
test('[API-25] the enroll port is as described', { skip }, async () => {
  await runAgainst('enroll', `http://localhost:${hub.ports.enroll}`)
})
test('[API-25] the mutual TLS port is as described', { skip }, async () => {
  const { cert, key } = host.mtls.tls ?? {}
  const pair = join(hub.directory, 'agent.pem')
  await writeFile(pair, `${cert as string}\n${key as string}\n`)
  await runAgainst('mtls', `https://localhost:${hub.ports.mtls}`, '--request-cert', pair)
})
test('[API-25] the admin port is as described', { skip }, async () => {
  const header = `Authorization: Bearer ${token}`
  // It would end the token by which all others are asked.
  const { path } = ADMIN_OPERATIONS.revokeOwnToken
  const options = ['--header', header, '--exclude-path', path]
  await runAgainst('admin', `https://localhost:${hub.ports.admin ?? 0}`, ...options)
  const { admin_tokens: left } = await hub.admin<{
    admin_tokens: { name: string; last_used_at: string }[]
  }>('GET', '/v1/admin/admin-tokens')
  assert.ok(left.some(({ name, last_used_at: used }) => name === 'schemathesis' && used))
  const errors = hub.logEntries().filter(({ level }) => level === 'error' || level === 'fatal')
  assert.deepEqual(errors, [])
})
