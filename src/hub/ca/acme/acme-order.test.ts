// What a hostile ACME CA may say to an order. The real one is in test/foreign.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { systemClock } from '../../../platform/clock.ts'
import { SILENT_LOGGER } from '../../../platform/silent-logger.ts'
import type { CaReply, CaRequest } from '../ca-connection.ts'
import { CaError } from '../certificate-authority.ts'
import { parseAccountKey } from './acme-account-key.ts'
import { NamesNotProved, proveNames } from './acme-order.ts'
import { createAcmeSession, type AcmeSession } from './acme-session.ts'

const BASE = 'https://acme.example'
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const accountKey = parseAccountKey(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())
const NEVER = new AbortController().signal
const PROBLEM = 'urn:ietf:params:acme:error:'

type Answers = Readonly<Record<string, (asked: number) => Partial<CaReply>>>

const object = (value: object, headers: Record<string, string> = {}): Partial<CaReply> => ({
  status: 200,
  body: JSON.stringify(value),
  headers,
})

const challenge = (fields: object = {}): object => ({
  type: 'dns-01',
  token: 'abc',
  url: `${BASE}/challenge`,
  ...fields,
})
const authorization = (fields: object = {}): Partial<CaReply> =>
  object({
    status: 'pending',
    identifier: { type: 'dns', value: 'a.example' },
    challenges: [challenge()],
    ...fields,
  })

const GOOD: Answers = {
  '/dir': () =>
    object({ newNonce: `${BASE}/nonce`, newAccount: `${BASE}/account`, newOrder: `${BASE}/order` }),
  '/nonce': () => ({}),
  '/account': () => ({ status: 201, body: '{}', headers: { location: `${BASE}/me` } }),
  '/order': () => ({
    status: 201,
    body: JSON.stringify({ authorizations: [`${BASE}/auth`], finalize: `${BASE}/finalize` }),
    headers: { location: `${BASE}/order/1` },
  }),
  '/auth': (asked) => authorization(asked === 1 ? {} : { status: 'valid' }),
  '/challenge': () => object({ status: 'processing' }),
  '/order/1': () => object({ status: 'ready' }),
}

interface Scene {
  readonly prove: () => Promise<unknown>
  readonly proveOf: (names: readonly string[]) => Promise<unknown>
  readonly session: AcmeSession
  readonly asked: string[]
  readonly hooked: string[]
}

function sceneOf(
  answers: Answers,
  names: readonly string[] = ['a.example'],
  signal: AbortSignal = NEVER,
): Scene {
  const asked: string[] = []
  const hooked: string[] = []
  let nonces = 0
  const send = async ({ path }: CaRequest): Promise<CaReply> => {
    asked.push(path)
    const answer = { ...GOOD, ...answers }[path]
    if (answer === undefined) return { status: 404, body: '' }
    const { headers, ...reply } = answer(asked.filter((each) => each === path).length)
    nonces += 1
    return {
      status: 200,
      body: '',
      ...reply,
      headers: { 'replay-nonce': `n${nonces}`, ...headers },
    }
  }
  const session = createAcmeSession({
    directoryUrl: new URL(`${BASE}/dir`),
    accountKey,
    connection: { send, useRoots: () => undefined, close: async () => undefined },
    clock: systemClock,
    logger: SILENT_LOGGER,
    deadlineMs: 5000,
  })
  const options = {
    session,
    accountKey,
    challengeType: 'dns-01',
    // Who waits wakes soon, and sees that time is over.
    clock: {
      ...systemClock,
      sleep: (_ms: number, until?: AbortSignal) => systemClock.sleep(1, until),
    },
    runHook: async (action: string, { domain }: { domain: string }) =>
      void hooked.push(`${action} ${domain}`),
  } as const
  const proveOf = (some: readonly string[]): Promise<unknown> =>
    proveNames(some, options, signal, () => undefined)
  return { prove: () => proveOf(names), proveOf, session, asked, hooked }
}

async function failureOf(work: Promise<unknown>): Promise<CaError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof CaError, String(error))
  return error
}

describe('[CAX-28] an order at an ACME CA', () => {
  test('is ready once the names are proved, and what was shown is taken away', async () => {
    const { prove, hooked } = sceneOf({})
    assert.deepEqual(Object.keys((await prove()) as object), ['url', 'finalizeUrl', 'expires'])
    assert.deepEqual(hooked, ['present a.example', 'cleanup a.example'])
  })

  const problem = (status: number, type: string, detail: string): Partial<CaReply> => ({
    status,
    body: JSON.stringify({ type: `${PROBLEM}${type}`, detail }),
  })
  for (const { what, answers, message, isAboutNames, hooks } of [
    {
      what: 'asks about a name that was not ordered',
      answers: {
        '/auth': () => authorization({ identifier: { type: 'dns', value: 'bank.example' } }),
      },
      message: /asks about bank\.example, which was not ordered/,
      isAboutNames: true,
      hooks: 0,
    },
    ...['../../etc/passwd', 'a b', '', 'x'.repeat(257), 7].map((token) => ({
      what: `gives the token ${String(token).slice(0, 20)}`,
      answers: { '/auth': () => authorization({ challenges: [challenge({ token })] }) },
      message: /offers no dns-01 for a\.example/,
      isAboutNames: true,
      hooks: 0,
    })),
    {
      what: 'has an authorization for what is no name',
      answers: { '/auth': () => authorization({ identifier: { value: '$(reboot)' } }) },
      message: /is for no name/,
      isAboutNames: false,
      hooks: 0,
    },
    {
      what: 'sends the hub elsewhere',
      answers: {
        '/auth': () =>
          authorization({ challenges: [challenge({ url: 'https://169.254.169.254/latest' })] }),
      },
      message: /sends the hub to no URL of its own/,
      isAboutNames: false,
      hooks: 2,
    },
    {
      what: 'has too many authorizations',
      answers: {
        '/order': () => ({
          status: 201,
          body: JSON.stringify({ authorizations: Array(102).fill(`${BASE}/auth`), finalize: 'x' }),
          headers: { location: `${BASE}/order/1` },
        }),
      },
      message: /the order of the ACME CA cannot be read/,
      isAboutNames: true,
      hooks: 0,
    },
    {
      what: 'has among its challenges what is none',
      answers: { '/auth': () => authorization({ challenges: [null, 7, 'dns-01'] }) },
      message: /offers no dns-01 for a\.example/,
      isAboutNames: true,
      hooks: 0,
    },
    {
      what: 'has a status that is no word',
      answers: { '/auth': () => authorization({ status: { toString: 1 }, challenges: [null] }) },
      message: /refused to make the authorization of a\.example pending \(403\): it has no status/,
      isAboutNames: true,
      hooks: 0,
    },
    {
      what: 'finds no proof',
      answers: {
        '/auth': (asked: number) =>
          asked === 1
            ? authorization()
            : authorization({
                status: 'invalid',
                challenges: [challenge({ error: { detail: 'no TXT\u001B[31m record' } })],
              }),
      },
      message: /refused to make the authorization of a\.example valid \(403\): no TXT \[31m record/,
      isAboutNames: true,
      hooks: 2,
    },
    {
      what: 'refuses the names',
      answers: { '/order': () => problem(400, 'rejectedIdentifier', 'not for us') },
      message: /refused to take an order \(400\): not for us/,
      isAboutNames: true,
      hooks: 0,
    },
    {
      what: 'refuses the account',
      answers: { '/account': () => problem(403, 'unauthorized', 'who?') },
      message: /refused to make an account \(403\): who\?/,
      isAboutNames: false,
      hooks: 0,
    },
  ] as const) {
    test(`fails when the CA ${what}`, async () => {
      const { prove, hooked } = sceneOf(answers)
      const failure = await failureOf(prove())
      assert.match(failure.message, message)
      assert.equal(failure instanceof NamesNotProved, isAboutNames)
      assert.equal(hooked.length, hooks)
    })
  }

  test('may have the hostname and a hundred names', async () => {
    const authorizations = Array(101).fill(`${BASE}/auth`)
    const body = JSON.stringify({ authorizations, finalize: `${BASE}/finalize` })
    const { prove } = sceneOf({
      '/order': (asked) => ({ ...GOOD['/order']!(asked), body }),
      '/auth': () => authorization({ status: 'valid' }),
    })
    await prove()
  })

  test('ends within an hour when the CA says no time for it', async () => {
    const order = { authorizations: [`${BASE}/auth`], finalize: `${BASE}/finalize` }
    const body = JSON.stringify({ ...order, expires: { toString: 1 } })
    const { prove } = sceneOf({ '/order': (asked) => ({ ...GOOD['/order']!(asked), body }) })
    const { expires } = (await prove()) as { readonly expires: Date }
    assert.ok(Math.abs(expires.getTime() - Date.now() - 3_600_000) < 10_000)
  })

  test('takes another nonce when one is not good, and gives up when none is', async () => {
    const bad = problem(400, 'badNonce', 'used')
    const once = sceneOf({ '/order': (asked) => (asked === 1 ? bad : GOOD['/order']!(asked)) })
    await once.prove()
    assert.equal(once.asked.filter((path) => path === '/order').length, 2)
    const never = sceneOf({ '/order': () => bad })
    const failure = await failureOf(never.prove())
    assert.match(failure.message, /took none of 10 nonces that it gave/)
    assert.ok(!(failure instanceof NamesNotProved), 'it is no matter of the names')
    assert.equal(never.asked.filter((path) => path === '/order').length, 10)
  })

  test('names are held that hang for ever', async () => {
    const { prove, hooked } = sceneOf(
      { '/auth': () => authorization() },
      ['a.example'],
      AbortSignal.timeout(100),
    )
    const failure = await failureOf(prove())
    assert.ok(failure instanceof NamesNotProved)
    assert.match(failure.message, /the names were not proved in time/)
    assert.deepEqual(hooked, ['present a.example', 'cleanup a.example'])
  })

  test('and none are held because the hub stops', async () => {
    const stop = new AbortController()
    const { prove } = sceneOf(
      {
        '/auth': () => {
          stop.abort(new Error('the hub is stopping'))
          return authorization()
        },
      },
      ['a.example'],
      stop.signal,
    )
    await assert.rejects(prove(), (error) => !(error instanceof NamesNotProved))
  })

  const limited = (retryAfter: string): Partial<CaReply> => ({
    ...problem(429, 'rateLimited', 'too many'),
    headers: { 'retry-after': retryAfter },
  })

  test('[CAX-34] a limit that one set of names meets is theirs, and of all that others meet soon after', async () => {
    const { proveOf, session, asked } = sceneOf({ '/order': () => limited('7200') })
    const first = await failureOf(proveOf(['a.example', 'b.example']))
    assert.ok(first instanceof NamesNotProved)
    assert.equal(first.pauseMs, 7_200_000)
    await failureOf(proveOf(['b.example', 'a.example']))
    assert.equal(session.pausedUntil(), undefined)
    await failureOf(proveOf(['c.example']))
    const until = session.pausedUntil()?.getTime() ?? 0
    assert.ok(Math.abs(until - Date.now() - 600_000) < 10_000, 'ten minutes at most')
    const before = asked.length
    assert.match((await failureOf(proveOf(['d.example']))).message, /asks to be left alone until/)
    assert.equal(asked.length, before)
  })

  for (const [retryAfter, pauseMs] of [
    ['3600', 3_600_000],
    ['0', 60_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 60_000],
    ['soon', 60_000],
    ['999999999', 86_400_000],
  ] as const) {
    test(`[CAX-31] a limit of the account with Retry-After ${retryAfter} leaves the CA alone for ${pauseMs} ms`, async () => {
      const { prove, session } = sceneOf({ '/account': () => limited(retryAfter) })
      assert.equal((await failureOf(prove())).reason, 'unreachable')
      const until = session.pausedUntil()?.getTime() ?? 0
      assert.ok(Math.abs(until - Date.now() - pauseMs) < 10_000, `${until - Date.now()}`)
    })
  }

  test('[CAX-26] registers again when the CA has forgotten the account', async () => {
    const gone = problem(400, 'accountDoesNotExist', 'who?')
    const scene = sceneOf({ '/order': (asked) => (asked === 1 ? gone : GOOD['/order']!(asked)) })
    await scene.prove()
    assert.equal(scene.asked.filter((path) => path === '/account').length, 2)
  })
})
