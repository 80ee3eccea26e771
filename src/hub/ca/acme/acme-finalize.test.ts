// What becomes of an order once the CA was asked to sign for it: an order costs the account at the CA something.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  type AcmeAnswer,
  type AcmeScript,
  type FakeAcme,
  startFakeAcme,
} from '../../../../test/fakes/acme-server.ts'
import { createSettableClock } from '../../../../test/support/settable-clock.ts'
import { SILENT_LOGGER } from '../../../platform/silent-logger.ts'
import { beginStep, withTrace } from '../../../platform/trace.ts'
import { createCsrPem, parseCsrPem } from '../../../pki/csr.ts'
import { generateEcP256Key } from '../../../pki/keys.ts'
import { CaError, type SignedCertificate } from '../certificate-authority.ts'
import { parseAccountKey } from './acme-account-key.ts'
import { createAcmeClient } from './acme-client.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const accountKey = parseAccountKey(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())
const PROBLEM = 'urn:ietf:params:acme:error:'

function sceneOf(acme: FakeAcme, deadlineMs = 5000, logger = SILENT_LOGGER) {
  const clock = createSettableClock(new Date())
  const client = createAcmeClient({
    directoryUrl: acme.directoryUrl,
    rootPem: acme.rootPem,
    tlsRootPem: acme.tlsRootPem,
    accountKey,
    challengeType: 'dns-01',
    runHook: () => assert.fail('no hook is called'),
    clock,
    logger,
    deadlineMs,
  })
  /** Each with a key of its own, as an agent asks. */
  const sign = async (name = 'a.example'): Promise<SignedCertificate> => {
    const csr = parseCsrPem(await createCsrPem(name, await generateEcP256Key(), [name]))
    assert.ok(csr)
    return client.sign({ csr, commonName: name, sans: [name] })
  }
  return { client, clock, sign }
}

async function failureOf(work: Promise<unknown>): Promise<CaError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof CaError, String(error))
  return error
}

const problem = (status: number, type: string, headers = {}): AcmeAnswer => ({
  status,
  json: { type: `${PROBLEM}${type}`, detail: type },
  headers,
})
const on =
  (wanted: string, answer: AcmeAnswer | 'cut'): AcmeScript =>
  (path) =>
    path === wanted ? answer : undefined

describe('[CAX-31] names for which the CA was asked to sign, and no certificate came,', () => {
  for (const { what, answer, isLost } of [
    { what: 'a no', answer: on('/finalize', problem(403, 'caa')), isLost: false },
    { what: 'a fault', answer: on('/finalize', { status: 500 }), isLost: true },
    { what: 'a lost connection', answer: on('/finalize', 'cut'), isLost: true },
    ...[201, 202, 302].map((status) => ({
      what: `the status ${status}`,
      answer: on('/finalize', { status }),
      isLost: true,
    })),
    {
      what: 'an order that turns invalid',
      answer: (path: string): AcmeAnswer | undefined => {
        if (path === '/finalize') return { status: 200, json: { status: 'processing' } }
        return path === '/order/1' && invalidNow()
          ? { status: 200, json: { status: 'invalid' } }
          : undefined
      },
      isLost: false,
    },
    {
      what: 'a status that is none',
      answer: on('/finalize', { status: 200, json: { status: { toString: 1 } } }),
      isLost: true,
    },
    {
      what: 'no certificate',
      answer: on('/finalize', { status: 200, json: { status: 'valid' } }),
      isLost: true,
    },
    { what: 'an empty chain', answer: on('/certificate', { status: 200, body: '' }), isLost: true },
    {
      what: 'a certificate that is away',
      answer: on('/certificate', { status: 503 }),
      isLost: true,
    },
  ]) {
    test(`but ${what}, are not ordered again at once`, async () => {
      await using acme = await startFakeAcme()
      const { client, clock, sign } = sceneOf(acme)
      await using _client = client
      polls = 0
      acme.answer = answer
      assert.equal((await failureOf(sign())).isAnswerLost, isLost)
      assert.match((await failureOf(sign())).message, /\(asked again after /)
      assert.equal(acme.timesAsked('/order'), 1)
      clock.pass(60_000)
      polls = 0
      await failureOf(sign())
      clock.pass(60_000)
      await failureOf(sign())
      assert.equal(acme.timesAsked('/order'), 2, 'two minutes after the second time')
      clock.pass(60_000)
      acme.answer = undefined
      await sign()
      await sign()
    })
  }

  test('but silence, are not said to be nearly done', async () => {
    await using acme = await startFakeAcme()
    const { client, sign } = sceneOf(acme, 600)
    await using _client = client
    acme.answer = (path) => (path === '/finalize' ? new Promise(() => undefined) : undefined)
    const { reason, isAnswerLost } = await failureOf(sign())
    assert.deepEqual([reason, isAnswerLost], ['timeout', true])
    assert.match(
      (await failureOf(sign())).message,
      /^the CA did not answer within 0\.6 s \(asked again after /,
    )
  })

  test('but one of another root, are ordered again as soon as the roots are others', async () => {
    await using acme = await startFakeAcme()
    const { client, sign } = sceneOf(acme)
    await using _client = client
    client.useRoots(acme.tlsRootPem)
    assert.equal((await failureOf(sign())).reason, 'wrong_certificate')
    assert.match((await failureOf(sign())).message, /\(asked again after /)
    client.useRoots(acme.tlsRootPem + acme.rootPem)
    await sign()
  })

  /** The first look at the order finds it ready. */
  let polls = 0
  function invalidNow(): boolean {
    polls += 1
    return polls > 1
  }
})

describe('[CAX-29] an order for which nothing was signed', () => {
  test('is kept for the next request when the CA takes not this CSR', async () => {
    await using acme = await startFakeAcme()
    const { client, sign } = sceneOf(acme)
    await using _client = client
    acme.answer = on('/finalize', problem(400, 'badCSR'))
    assert.equal((await failureOf(sign())).isAnswerLost, false)
    acme.answer = undefined
    await sign()
    assert.equal(acme.timesAsked('/order'), 1)
  })

  test('is kept when the request to sign did not reach the CA', async () => {
    await using acme = await startFakeAcme()
    const { client, sign } = sceneOf(acme)
    await using _client = client
    acme.answer = on('/finalize', problem(400, 'badNonce'))
    assert.equal((await failureOf(sign())).isAnswerLost, false)
    acme.answer = undefined
    await sign()
    assert.equal(acme.timesAsked('/order'), 1)
  })

  for (const limit of [
    problem(429, 'rateLimited', { 'retry-after': '300' }),
    problem(403, 'rateLimited', { 'retry-after': '300' }),
    { status: 429, headers: { 'retry-after': '300' } },
  ]) {
    const what = `${limit.status} ${'json' in limit ? 'rateLimited' : ''}`
    test(`[CAX-34] is kept while the CA wants no more of these names (${what}), and others go on`, async () => {
      await using acme = await startFakeAcme()
      const { client, clock, sign } = sceneOf(acme)
      await using _client = client
      acme.answer = on('/finalize', limit)
      assert.equal((await failureOf(sign())).isAnswerLost, false)
      acme.answer = undefined
      assert.match((await failureOf(sign())).message, /\(asked again after /)
      await sign('b.example')
      clock.pass(300_000)
      await sign()
      assert.equal(acme.timesAsked('/order'), 2)
    })
  }

  test('is kept when the CA does not know the account any more, and gives the hub none', async () => {
    await using acme = await startFakeAcme()
    const { client, sign } = sceneOf(acme)
    await using _client = client
    acme.answer = (path) => {
      if (path === '/finalize') return problem(400, 'accountDoesNotExist')
      return path === '/account' && acme.timesAsked('/finalize') > 0
        ? problem(403, 'unauthorized')
        : undefined
    }
    assert.equal((await failureOf(sign())).isAnswerLost, false)
    acme.answer = undefined
    await sign()
    assert.equal(acme.timesAsked('/order'), 1)
  })

  test('is made anew when the CA does not know it as ready any more', async () => {
    await using acme = await startFakeAcme()
    const { client, sign } = sceneOf(acme)
    await using _client = client
    acme.answer = on('/finalize', problem(403, 'orderNotReady'))
    assert.equal((await failureOf(sign())).isAnswerLost, false)
    acme.answer = undefined
    await sign()
    assert.equal(acme.timesAsked('/order'), 2)
  })

  test('is not begun to be used when hardly any time is left', async () => {
    await using acme = await startFakeAcme()
    const { client, sign } = sceneOf(acme, 1200)
    await using _client = client
    const readyAtMs = Date.now() + 800
    acme.answer = (path) =>
      path === '/order/1' && Date.now() < readyAtMs
        ? { status: 200, json: { status: 'pending' } }
        : undefined
    const { message, isAnswerLost } = await failureOf(sign())
    assert.match(message, /the proof of control over the names goes on/)
    assert.equal(isAnswerLost, false)
    assert.equal(acme.timesAsked('/finalize'), 0)
    while (Date.now() < readyAtMs) await new Promise((resolve) => setTimeout(resolve, 20))
    await sign()
    assert.equal(acme.timesAsked('/order'), 1)
  })

  test('is read to its end though the CA asks to be left alone', async () => {
    await using acme = await startFakeAcme()
    const { client, sign } = sceneOf(acme)
    await using _client = client
    let other: Promise<unknown> | undefined
    let hasOtherEnded = false
    acme.answer = async (path, usual) => {
      const answer = await usual()
      if (path === '/finalize') {
        acme.answer = (next) => {
          if (next === '/order') return { status: 503, headers: { 'retry-after': '600' } }
          return hasOtherEnded ? undefined : { status: 200, json: { status: 'processing' } }
        }
        other = failureOf(sign('b.example')).then(() => (hasOtherEnded = true))
        return { status: 200, json: { status: 'processing' } }
      }
      return answer
    }
    await sign()
    await other
    assert.match((await failureOf(sign())).message, /asks to be left alone/)
  })
})

test('[LOG-10] the line of a failure says in which trace it was', async () => {
  await using acme = await startFakeAcme()
  const lines: unknown[][] = []
  const warn = (...line: unknown[]): void => void lines.push(line)
  const { client, sign } = sceneOf(acme, 5000, { ...SILENT_LOGGER, warn })
  await using _client = client
  acme.answer = on('/finalize', problem(403, 'caa'))
  const trace = beginStep(undefined)
  await withTrace(trace, () => failureOf(sign()))
  const line = lines.find(([, what]) => what === 'no certificate from the CA')
  const fields = line?.[0] as { readonly trace_id?: string } | undefined
  assert.equal(fields?.trace_id, trace.traceId)
})
