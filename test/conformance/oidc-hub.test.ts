// A whole hub with an OpenID provider: its start, its checks, and a sign-in across a restart. docs/protocol.md OID.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkHub } from '../../src/hub/check-hub.ts'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { adminTargetOf } from '../support/admin-target.ts'
import { failToStart } from '../support/boot-here.ts'
import { askAs } from '../support/console-page.ts'
import { WITH_ADMIN_PORT } from '../support/hub.ts'
import { answerIn, askOpenid, newCaller, startOf, SVC_REDIRECT } from '../support/openid-scene.ts'
import { type RunningProvider, startOpenidProvider } from '../support/openid-provider.ts'
import type { Variables } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import type { Target } from '../support/wire-client.ts'

const { ca, hub } = useHub(undefined, WITH_ADMIN_PORT)
let provider: RunningProvider
let settings: Variables

const target = (): Promise<Target> => adminTargetOf({ ca, hub })

async function findProviderOf(changes: Variables): Promise<unknown[]> {
  const findings: unknown[] = []
  for await (const { check, ...finding } of checkHub({ ...hub.environment, ...changes })) {
    if (check === 'openid') findings.push(finding)
  }
  return findings
}

describe('a hub with an OpenID provider', () => {
  before(async () => {
    provider = await startOpenidProvider({ redirectUris: [SVC_REDIRECT] })
    provider.accounts['id-alice'] = { email: 'alice@example.org', groups: ['admins'] }
    const caPath = join(hub.directory, 'provider.pem')
    const secretPath = join(hub.directory, 'client-secret')
    await writeFile(caPath, provider.rootPem)
    await writeFile(secretPath, `${provider.clientSecret}\n`, { mode: 0o600 })
    settings = {
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_CLIENT_ID: provider.clientId,
      SVC_OIDC_CLIENT_SECRET_FILE: secretPath,
      SVC_OIDC_CA_PATH: caPath,
      SVC_OIDC_ROLES: 'admin=admins',
    }
  })
  after(() => provider[Symbol.asyncDispose]())

  test('[OID-3] [OID-4] [ENV-16] a sign-in goes on across a restart, and the log has no secret of it', async () => {
    await hub.stop()
    await hub.start(settings)
    const caller = newCaller()
    const begun = await askOpenid(await target(), 'start', startOf('svc', caller), {})
    assert.equal(begun.status, 200, begun.text)
    const back = await provider.visit(String(begun.json['url']), 'id-alice')
    await hub.stop()
    await hub.start(settings)
    const finish = { ...answerIn(back), secret: caller.secret }
    const finished = await askOpenid(await target(), 'finish', finish, {})
    assert.equal(finished.status, 200, finished.text)
    const token = String(finished.json['token'])
    const bearer = { authorization: `Bearer ${token}` }
    const listed = await askAs(await target(), bearer, '/v1/admin/admin-tokens')
    const [made] = (listed.json as AdminReplies['listAccessTokens']).admin_tokens
    assert.deepEqual(
      [made?.name, made?.role, made?.issuer, made?.subject],
      ['alice@example.org', 'admin', provider.issuer, 'id-alice'],
    )
    const { code, state } = Object.fromEntries(back.searchParams)
    for (const secret of [token, code, state, caller.secret, provider.clientSecret]) {
      assert.ok(secret !== undefined && secret.length > 20 && !hub.logText().includes(secret))
    }
  })

  test('[OID-13] [DOC-31] the checks say whether the provider is there, and where it cannot send anybody', async () => {
    assert.deepEqual(await findProviderOf({}), [])
    const console = {
      status: 'warning',
      message: 'only svc login can use the OpenID provider: it cannot send browsers back',
      variable: 'SVC_CONSOLE_URL',
    }
    const { issuer } = provider
    const good = { status: 'ok', message: `${issuer} answers` }
    assert.deepEqual(await findProviderOf(settings), [good, console])
    const consoleUrl = { SVC_CONSOLE_URL: 'https://hub.test:8445/console' }
    assert.deepEqual(await findProviderOf({ ...settings, ...consoleUrl }), [good])
    const away = { ...settings, ...consoleUrl, SVC_OIDC_ISSUER: 'https://localhost:1/' }
    const [refused] = (await findProviderOf(away)) as { status: string; message: string }[]
    assert.equal(refused?.status, 'warning')
    assert.match(refused.message, /^https:\/\/localhost:1\/: .*ECONNREFUSED/)
    const { openid } = await hub.admin<AdminReplies['showExamination']>(
      'GET',
      '/v1/admin/examination',
    )
    assert.deepEqual(openid, { issuer, reason: null, is_console_reached: false })
  })

  test('[OID-1] a provider that is away stops no start, and a wrong setting does', async () => {
    await hub.stop()
    await hub.start({ ...settings, SVC_OIDC_ISSUER: 'https://localhost:1/' })
    const { openid } = await hub.admin<AdminReplies['showExamination']>(
      'GET',
      '/v1/admin/examination',
    )
    assert.match(openid?.reason ?? '', /ECONNREFUSED/)
    await hub.stop()
    const wrong = { ...hub.environment, ...settings, SVC_OIDC_ROLES: 'root=admins' }
    const { status, stderr } = await failToStart(wrong)
    assert.deepEqual(
      [status, stderr.split('\n')[0]],
      [
        1,
        'svc-server: error: SVC_OIDC_ROLES: root=admins: it is not role=group or role[selector]=group, of viewer, operator, admin',
      ],
    )
  })
})
