import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { type FakeOpenBao, startFakeOpenBao } from '../../../../test/fakes/openbao-server.ts'
import { systemClock } from '../../../platform/clock.ts'
import { Secret } from '../../../platform/secret.ts'
import { SILENT_LOGGER } from '../../../platform/silent-logger.ts'
import { beginStep, withTrace } from '../../../platform/trace.ts'
import { createThrowawayCsr } from '../../../pki/csr.ts'
import { type AuthorityClient, CaError, type SignRequest } from '../certificate-authority.ts'
import { createOpenBaoClient } from './openbao-client.ts'
import { keepTokenAlive, type OpenBaoLogin } from './openbao-login.ts'

const SECRET_ID = 'a-secret-id-that-nobody-may-see'
const APP_ROLE: OpenBaoLogin = {
  by: 'approle',
  mount: 'team/approle',
  roleId: 'the-hub',
  secretId: new Secret(SECRET_ID),
}
const NEVER = new AbortController().signal

function clientOf(bao: FakeOpenBao, logs: unknown[] = [], login = APP_ROLE): AuthorityClient {
  const log = (...entry: unknown[]): void => void logs.push(entry)
  return createOpenBaoClient({
    caUrl: bao.url,
    rootPem: bao.rootPem,
    tlsRootPem: bao.tlsRootPem,
    mount: 'team/pki',
    role: 'hosts',
    namespace: 'a/b',
    login,
    clock: systemClock,
    logger: { trace: log, debug: log, info: log, warn: log, error: log },
  })
}

async function newRequest(sans: readonly string[] = ['web-1']): Promise<SignRequest> {
  return { csr: await createThrowawayCsr('web-1'), commonName: 'web-1', sans }
}

async function failureOf(work: Promise<unknown>): Promise<CaError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof CaError)
  return error
}

describe('OpenBao client', () => {
  test('[CAX-16] [CAX-22] [ENV-60] [ENV-63] [ENV-64] asks the role for these names, in its namespace, after one login', async () => {
    await using bao = await startFakeOpenBao()
    await using client = clientOf(bao)
    const sans = ['web-1', '*.web.example', '10.1.2.3', '2001:db8::1']
    const request = await newRequest(sans)
    await Promise.all([client.sign({ ...request, lifetimeSeconds: 7200 }), client.sign(request)])
    assert.deepEqual(
      bao.requests.map(({ path, namespace }) => [path, namespace]),
      [
        ['/v1/auth/team/approle/login', 'a/b'],
        ['/v1/team/pki/sign/hosts', 'a/b'],
        ['/v1/team/pki/sign/hosts', 'a/b'],
      ],
    )
    const [login, ...signed] = bao.requests
    assert.deepEqual(login?.fields, { role_id: 'the-hub', secret_id: SECRET_ID })
    const { csr: _, ...fields } = signed.find((each) => 'ttl' in each.fields)?.fields ?? {}
    assert.deepEqual(fields, {
      common_name: 'web-1',
      alt_names: 'web-1,*.web.example',
      ip_sans: '10.1.2.3,2001:db8::1',
      ttl: '7200s',
    })
  })

  test('[CAX-17] takes no certificate with the names of the CSR, and says which it was', async () => {
    await using bao = await startFakeOpenBao()
    bao.areNamesOfCsr = true
    await using client = clientOf(bao)
    const failure = await failureOf(client.sign(await newRequest(['web-1', 'shop.example'])))
    assert.deepEqual([failure.reason, failure.isAnswerLost], ['wrong_certificate', false])
    assert.match(failure.leaf?.serial ?? '', /^[0-9a-f]+$/)
  })

  test('[CAX-18] takes a shorter life than it asked for', async () => {
    await using bao = await startFakeOpenBao()
    await using client = clientOf(bao)
    await client.sign({ ...(await newRequest()), lifetimeSeconds: 86_400 })
    const failure = await failureOf(client.sign({ ...(await newRequest()), lifetimeSeconds: 60 }))
    assert.match(failure.message, /and the hub asked for 60 s/)
  })

  test('[CAX-20] logs in once more when its token is not accepted any more, and no oftener', async () => {
    await using bao = await startFakeOpenBao()
    await using client = clientOf(bao)
    await client.sign(await newRequest())
    bao.tokens.clear()
    assert.equal((await client.sign(await newRequest())).isAnotherLost, false)
    const logins = () => bao.requests.filter(({ path }) => path.endsWith('/login')).length
    assert.equal(logins(), 2)
    bao.answer = ({ path }) =>
      path.endsWith('/login') ? undefined : { status: 403, json: { errors: ['permission denied'] } }
    const failure = await failureOf(client.sign(await newRequest()))
    assert.deepEqual([failure.reason, failure.variable], ['refused', 'SVC_OPENBAO_SECRET_ID'])
    assert.equal(failure.isAnswerLost, false)
    assert.equal(logins(), 3)
  })

  for (const [status, errors, kind] of [
    [400, ['certificate with serial 0a:0b not found.'], 'refused'],
    [403, ['permission denied'], 'failed'],
    [404, ['no handler for route'], 'failed'],
    [429, ['request path "pki/revoke": rate limit quota exceeded'], 'failed'],
    [503, ['Vault is sealed'], 'failed'],
    [200, undefined, 'failed'],
  ] as const) {
    test(`[REV-12] a revocation answered with ${status} has ${kind}`, async () => {
      await using bao = await startFakeOpenBao()
      await using client = clientOf(bao)
      bao.answer = ({ path }) =>
        path.endsWith('/revoke') ? { status, json: errors ? { errors } : {} } : undefined
      const outcome = await client.revoke('a0b', NEVER)
      assert.equal(outcome.kind, kind)
      const asked = bao.requests.filter(({ path }) => path.endsWith('/revoke'))
      assert.deepEqual(asked.at(-1)?.fields, { serial_number: '0a:0b' })
      if (errors) assert.ok('reason' in outcome && outcome.reason.includes(errors[0]))
    })
  }

  for (const [status, why] of [
    [400, 'invalid role or secret ID'],
    [403, 'permission denied'],
  ] as const) {
    test(`[EVD-16] a login refused with ${status} is no answer to a request that was cut`, async () => {
      await using bao = await startFakeOpenBao()
      await using client = clientOf(bao)
      await client.sign(await newRequest())
      // The first is cut; the second finds the token ended, and the login after it is refused.
      let signs = 0
      bao.answer = ({ path }) => {
        if (path.endsWith('/login')) return { status, json: { errors: [why] } }
        signs += 1
        return signs === 1 ? 'cut' : { status: 403, json: { errors: ['permission denied'] } }
      }
      const failure = await failureOf(client.sign(await newRequest()))
      assert.equal(signs, 2)
      assert.match(failure.message, new RegExp(`refused to log the hub in \\(${status}\\): ${why}`))
      assert.deepEqual([failure.status, failure.isAnswerLost], [status, true])
      // Nothing of this one went out.
      assert.equal((await failureOf(client.sign(await newRequest()))).isAnswerLost, false)
      assert.equal(signs, 2)
    })
  }

  test('[LOG-10] the line of a failure says in which trace it was', async () => {
    const logs: unknown[][] = []
    await using bao = await startFakeOpenBao()
    await using client = clientOf(bao, logs)
    bao.answer = () => ({ status: 400, json: {} })
    const trace = beginStep(undefined)
    await withTrace(trace, async () => failureOf(client.sign(await newRequest())))
    const fields = logs[0]?.[0] as { readonly trace_id?: string } | undefined
    assert.equal(fields?.trace_id, trace.traceId)
  })

  test('[CAX-21] tells neither log nor caller the token or the SecretID', async () => {
    const logs: unknown[] = []
    await using bao = await startFakeOpenBao()
    await using client = clientOf(bao, logs)
    bao.answer = ({ path, token }) =>
      path.endsWith('/login')
        ? undefined
        : { status: 400, json: { errors: [`hvs.${'x'.repeat(30)}`, `bad token ${token}`] } }
    const failure = await failureOf(client.sign(await newRequest()))
    const outcome = await client.revoke('0a0b', NEVER)
    const everything = inspect([logs, failure, outcome], { depth: 9, maxStringLength: null })
    for (const secret of [SECRET_ID, 'hvs.', ...bao.tokens]) {
      assert.ok(!everything.includes(secret), secret)
    }
    assert.match(failure.message, /bad token \[redacted\]/)
  })

  test('[CAX-19] renews its token at half of its life, until it cannot be renewed', async () => {
    const logs: unknown[][] = []
    await using bao = await startFakeOpenBao()
    const renewals: string[] = []
    bao.answer = ({ path }) => {
      renewals.push(path)
      const isLookUp = path.endsWith('/lookup-self')
      const life = { ttl: 2, lease_duration: 2, renewable: renewals.length < 3 }
      return { status: 200, json: { [isLookUp ? 'data' : 'auth']: life } }
    }
    await using _client = clientOf(bao, logs, { by: 'token', token: new Secret('s.given') })
    const deadlineMs = Date.now() + 10_000
    while (logs.length === 0 && Date.now() < deadlineMs) await systemClock.sleep(20)
    assert.deepEqual(renewals, [
      '/v1/auth/token/lookup-self',
      '/v1/auth/token/renew-self',
      '/v1/auth/token/renew-self',
    ])
    assert.equal(logs[0]?.[1], 'The token for the CA ends, and cannot be renewed')
  })

  /** Who sleeps wakes at once, and the renewal ends with what is said last. */
  const renewalOf = async (
    answers: readonly { readonly status: number; readonly json: object }[],
  ): Promise<{
    readonly paths: string[]
    readonly sleptMs: number[]
    readonly logs: unknown[]
  }> => {
    const paths: string[] = []
    const sleptMs: number[] = []
    const logs: unknown[] = []
    const warn = (...line: unknown[]): void => void logs.push(line[1])
    const clock = { ...systemClock, sleep: async (ms: number) => void sleptMs.push(ms) }
    await keepTokenAlive(
      new Secret('s.given'),
      {
        call: async ({ path }) => {
          const { status, json } = answers[paths.length] ?? assert.fail('asked too often')
          paths.push(path.slice(path.lastIndexOf('/') + 1))
          return { status, body: JSON.stringify(json) }
        },
        clock,
        logger: { ...SILENT_LOGGER, warn },
        deadlineMs: 1000,
      },
      NEVER,
    )
    return { paths, sleptMs, logs }
  }

  for (const garbled of [{}, { data: {} }, { data: { ttl: '60' } }, { data: null }, []]) {
    test(`[CAX-19] a look-up that says ${JSON.stringify(garbled)} is none of a token without an end`, async () => {
      const found = await renewalOf([
        { status: 200, json: garbled },
        { status: 200, json: { auth: { lease_duration: 60, renewable: true } } },
        { status: 200, json: {} },
        { status: 200, json: { auth: { lease_duration: 0 } } },
      ])
      assert.deepEqual(found.paths, ['lookup-self', 'renew-self', 'renew-self', 'renew-self'])
      assert.deepEqual(found.sleptMs, [60_000, 30_000, 60_000])
      assert.equal(found.logs[0], 'The token for the CA was not renewed')
    })
  }

  test('[CAX-19] a token that may not be looked up is renewed, and one that may not be renewed is looked up', async () => {
    const no = { status: 403, json: { errors: ['permission denied'] } }
    const found = await renewalOf([no, no, { status: 200, json: { data: { ttl: 0 } } }])
    assert.deepEqual(found.paths, ['lookup-self', 'renew-self', 'lookup-self'])
  })
})
