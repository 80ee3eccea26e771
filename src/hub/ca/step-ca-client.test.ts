import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { describe, test } from 'node:test'
import { type CaBehaviour, type FakeCa, startFakeCa } from '../../../test/fakes/ca-server.ts'
import { createGate } from '../../../test/support/scripted-ca.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import { systemClock } from '../../platform/clock.ts'
import { createCsrPem, parseCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import {
  type AuthorityClient,
  CaError,
  type CaFailureReason,
  type SignRequest,
} from './certificate-authority.ts'
import { parseProvisionerKey } from './provisioner-key.ts'
import { createStepCaClient } from './step-ca-client.ts'

interface ClientSettings {
  readonly rootPem?: string
  readonly deadlineMs?: number
  readonly provisionerName?: string
  readonly logs?: unknown[]
  readonly countHubs?: () => number
}

function clientOf(ca: FakeCa, settings: ClientSettings = {}): AuthorityClient {
  const { logs = [], ...rest } = settings
  const log = (...entry: unknown[]): void => void logs.push(entry)
  const logger = { trace: log, debug: log, info: log, warn: log, error: log }
  return createStepCaClient({
    caUrl: new URL(ca.url),
    rootPem: ca.rootPem,
    provisionerKey: parseProvisionerKey(ca.provisionerKey),
    provisionerKid: ca.provisionerKid,
    clock: systemClock,
    logger,
    ...rest,
  })
}

async function newRequest(sans: readonly string[] = ['web-1']): Promise<SignRequest> {
  const csr = parseCsrPem(await createCsrPem('web-1', await generateEcP256Key()))
  assert.ok(csr)
  return { csr, commonName: 'web-1', sans }
}

async function failureOf(work: Promise<unknown>): Promise<CaError> {
  try {
    await work
  } catch (error) {
    if (error instanceof CaError) return error
    throw error
  }
  throw new Error('it did not fail')
}

async function failsFor(
  behaviour: CaBehaviour,
  reason: CaFailureReason,
  message: RegExp,
): Promise<void> {
  await using ca = await startFakeCa({ script: () => behaviour })
  await using client = clientOf(ca)
  const failure = await failureOf(client.sign(await newRequest()))
  assert.equal(failure.reason, reason)
  assert.equal(failure.code, 'ca_failed')
  assert.match(failure.message, message)
}

describe('step-ca client', () => {
  test('[CAX-1] [CAX-6] returns the leaf and its intermediates, leaf first', async () => {
    await using ca = await startFakeCa()
    await using client = clientOf(ca)
    const request = await newRequest(['web-1', '*.web.example', '2001:db8::1'])
    const { leaf, intermediates, chainPem } = await client.sign(request)
    assert.equal(leaf.commonName, 'web-1')
    assert.ok(leaf.publicKeySpki.equals(request.csr.publicKeySpki))
    assert.equal(intermediates.length, 1)
    assert.equal(chainPem, leaf.pem + intermediates[0]?.pem)
  })

  test('[CAX-6] falls back to crt and ca when there is no certChain', async () => {
    await using ca = await startFakeCa({ script: () => ({ kind: 'sign_without_chain' }) })
    await using client = clientOf(ca)
    const { intermediates } = await client.sign(await newRequest())
    assert.equal(intermediates.length, 1)
  })

  test('[EVD-16] knows when the CA may have signed what nobody has', async () => {
    const lost = async (script: (number: number) => CaBehaviour): Promise<boolean> => {
      await using ca = await startFakeCa({ script: ({ number }) => script(number) })
      await using client = clientOf(ca, { deadlineMs: 1000 })
      return (await failureOf(client.sign(await newRequest()))).isAnswerLost
    }
    const answer = (status: number): CaBehaviour => ({ kind: 'answer', status, body: '{}' })
    assert.equal(await lost(() => ({ kind: 'silence' })), true)
    assert.equal(await lost(() => ({ kind: 'cut' })), true)
    assert.equal(await lost(() => ({ kind: 'endless' })), true)
    assert.equal(await lost(() => answer(500)), true)
    assert.equal(await lost(() => answer(201)), true)
    assert.equal(await lost(() => answer(403)), false)
    assert.equal(await lost(() => answer(429)), false)
    assert.equal(await lost((number) => (number === 1 ? { kind: 'cut' } : answer(403))), true)
  })

  test('[EVD-16] knows what the CA signed that is not what it was asked for', async () => {
    const script = (): CaBehaviour => ({ kind: 'wrong_certificate', fault: 'extra_san' })
    await using ca = await startFakeCa({ script })
    await using client = clientOf(ca)
    const { leaf, isAnswerLost } = await failureOf(client.sign(await newRequest()))
    assert.match(leaf?.serial ?? '', /^[0-9a-f]+$/)
    assert.equal(isAnswerLost, false)
  })

  test('[EVD-16] knows that a certificate for another key is the answer to another request', async () => {
    const script = (): CaBehaviour => ({ kind: 'wrong_certificate', fault: 'other_key' })
    await using ca = await startFakeCa({ script })
    await using client = clientOf(ca)
    const { leaf, isAnswerLost } = await failureOf(client.sign(await newRequest()))
    assert.deepEqual([leaf, isAnswerLost], [undefined, true])
  })

  test('[EVD-16] knows that it asked twice, and that a CA which is away was never asked', async () => {
    const script = ({ number }: { number: number }): CaBehaviour => ({
      kind: number === 1 ? 'cut' : 'sign',
    })
    await using ca = await startFakeCa({ script })
    await using client = clientOf(ca)
    assert.equal((await client.sign(await newRequest())).isAnotherLost, true)
    assert.equal((await client.sign(await newRequest())).isAnotherLost, false)
    const gone = await startFakeCa()
    await gone[Symbol.asyncDispose]()
    await using late = clientOf(gone, { deadlineMs: 1000 })
    assert.equal((await failureOf(late.sign(await newRequest()))).isAnswerLost, false)
  })

  test('[CAX-7] trusts each of several roots', async () => {
    await using ca = await startFakeCa()
    await using other = await startFakeCa()
    await using client = clientOf(ca, { rootPem: other.rootPem + ca.rootPem })
    await client.sign(await newRequest())
  })

  test('[POL-7] asks for the life that is wanted, by the CA’s own clock, and for none otherwise', async () => {
    await using ca = await startFakeCa()
    await using client = clientOf(ca)
    const request = await newRequest()
    await client.sign(request)
    await client.sign({ ...request, lifetimeSeconds: 28_800 })
    assert.deepEqual(
      ca.calls.map(({ notAfter }) => notAfter),
      [undefined, '28800s'],
    )
  })

  test('[POL-7] takes a shorter life than it asked for, and no longer one', async () => {
    // It issues for an hour, whatever it is asked.
    await using ca = await startFakeCa()
    await using client = clientOf(ca)
    const request = await newRequest()
    await client.sign({ ...request, lifetimeSeconds: 7200 })
    await client.sign({ ...request, lifetimeSeconds: 3600 })
    const failure = await failureOf(client.sign({ ...request, lifetimeSeconds: 3400 }))
    assert.equal(failure.reason, 'wrong_certificate')
    assert.match(failure.message, /is valid until \S+, and the hub asked for 3400 s$/)
  })

  test('[CAX-2] finds the name of the provisioner on whatever page it is, and asks once for many calls', async () => {
    await using ca = await startFakeCa({ pagesBefore: 3, provisionerName: () => 'paged' })
    await using client = clientOf(ca)
    const request = await newRequest()
    await Promise.all(Array.from({ length: 10 }, () => client.sign(request)))
    assert.equal(ca.provisionerPagesServed(), 4)
    assert.deepEqual([...new Set(ca.calls.map(({ claims }) => claims.iss))], ['paged'])
  })

  test('[CAX-2] does not ask for the name when it is configured', async () => {
    await using ca = await startFakeCa()
    await using client = clientOf(ca, { provisionerName: 'configured' })
    await client.sign(await newRequest())
    assert.equal(ca.provisionerPagesServed(), 0)
    assert.equal(ca.calls[0]?.claims.iss, 'configured')
  })

  test('asks for the name again after a 401', async () => {
    let name = 'old'
    await using ca = await startFakeCa({
      provisionerName: () => name,
      script: ({ claims }) =>
        claims.iss === name ? { kind: 'sign' } : { kind: 'answer', status: 401, body: '{}' },
    })
    await using client = clientOf(ca)
    const request = await newRequest()
    await client.sign(request)
    name = 'new'
    assert.equal((await failureOf(client.sign(request))).status, 401)
    await client.sign(request)
    assert.equal(ca.calls.at(-1)?.claims.iss, 'new')
  })

  test('[CAX-5] [CAX-9] tries once more, with a fresh token, when the connection is cut', async () => {
    await using ca = await startFakeCa({
      script: ({ number }) => (number === 1 ? { kind: 'cut' } : { kind: 'sign' }),
    })
    await using client = clientOf(ca)
    await client.sign(await newRequest())
    const [first, second] = ca.calls
    assert.equal(ca.calls.length, 2)
    assert.notEqual(first?.claims.jti, second?.claims.jti)
  })

  test('[CAX-9] gives up as unreachable when the connection is cut twice', async () => {
    await using ca = await startFakeCa({ script: () => ({ kind: 'cut' }) })
    await using client = clientOf(ca)
    assert.equal((await failureOf(client.sign(await newRequest()))).reason, 'unreachable')
    assert.equal(ca.calls.length, 2)
  })

  test('[CAX-9] does not try again after an answer', async () => {
    await using ca = await startFakeCa({
      script: () => ({ kind: 'answer', status: 500, body: 'oops' }),
    })
    await using client = clientOf(ca)
    await failureOf(client.sign(await newRequest()))
    assert.equal(ca.calls.length, 1)
  })

  test('is unreachable when nobody listens', async () => {
    const ca = await startFakeCa()
    await ca[Symbol.asyncDispose]()
    await using client = clientOf(ca)
    assert.equal((await failureOf(client.sign(await newRequest()))).reason, 'unreachable')
  })

  test('[CAX-7] does not talk to a server of another root', async () => {
    await using ca = await startFakeCa()
    await using other = await startFakeCa()
    await using client = clientOf(ca, { rootPem: other.rootPem })
    assert.equal((await failureOf(client.sign(await newRequest()))).reason, 'unreachable')
    assert.equal(ca.calls.length, 0)
  })

  test('[CAX-8] has one deadline for everything, the wait in line included', async () => {
    await using ca = await startFakeCa({ script: () => ({ kind: 'silence' }) })
    await using client = clientOf(ca, { deadlineMs: 1000 })
    const request = await newRequest()
    // The last four wait in line all the time.
    const failures = await Promise.all(
      Array.from({ length: 20 }, () => failureOf(client.sign(request))),
    )
    assert.deepEqual([...new Set(failures.map(({ reason }) => reason))], ['timeout'])
    assert.equal(ca.calls.length, 16)
  })

  test('[CAX-10] has 16 calls under way, 64 waiting, and refuses the next at once', async () => {
    let open = (): void => undefined
    const released = new Promise<void>((resolve) => {
      open = resolve
    })
    await using ca = await startFakeCa({
      script: () => ({ kind: 'sign_after', released }),
    })
    await using client = clientOf(ca)
    const request = await newRequest()
    const accepted = Array.from({ length: 80 }, () => client.sign(request))
    const failure = await failureOf(client.sign(request))
    assert.equal(failure.reason, 'overloaded')
    assert.ok(ca.calls.length <= 16)
    open()
    await Promise.all(accepted)
    assert.equal(ca.calls.length, 80)
  })

  test('[CAX-10] [HUB-11] has its share of the 16 calls while several hubs run', async () => {
    const { opened, open } = createGate()
    let hubs = 3
    await using ca = await startFakeCa({ script: () => ({ kind: 'sign_after', released: opened }) })
    await using one = clientOf(ca, { countHubs: () => hubs })
    await using two = clientOf(ca, { countHubs: () => hubs })
    await using three = clientOf(ca, { countHubs: () => hubs })
    const request = await newRequest()
    const signing = [one, two, three].flatMap((client) =>
      Array.from({ length: 10 }, () => client.sign(request)),
    )
    await waitUntil('the calls of all', () => (ca.calls.length >= 15 ? true : undefined))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(ca.calls.length, 15)
    hubs = 40
    open()
    await Promise.all(signing)
    assert.equal(ca.calls.length, 30, 'a share is one call at least')
  })

  const faults = [
    ['other_key', /for another key/],
    ['other_common_name', /for CN someone-else/],
    ['extra_san', /has the names web-1, extra\.example/],
    ['expired', /is expired/],
    ['other_root', /does not lead to a trusted root/],
    ['is_ca', /is a CA/],
  ] as const
  for (const [fault, message] of faults) {
    test(`[CAX-12] does not take a certificate with the fault ${fault}`, () =>
      failsFor({ kind: 'wrong_certificate', fault }, 'wrong_certificate', message))
  }

  const answers: readonly (readonly [number, string, CaFailureReason, RegExp])[] = [
    [201, 'not json', 'wrong_certificate', /no certificate/],
    [201, '{"crt":"nonsense"}', 'wrong_certificate', /no certificate/],
    [201, '{"certChain":[]}', 'wrong_certificate', /no certificate/],
    [200, '{}', 'unreachable', /could not sign \(200\)/],
    [302, '', 'unreachable', /could not sign \(302\)/],
    [400, '{"status":400,"message":"no csr"}', 'refused', /refused to sign \(400\): no csr$/],
    [401, '{"status":401,"message":"used"}', 'refused', /refused to sign \(401\): used$/],
    [403, '{"status":403,"message":"names"}', 'refused', /refused to sign \(403\): names$/],
    [500, '<html>oops', 'unreachable', /could not sign \(500\): <html>oops$/],
    [503, '', 'unreachable', /could not sign \(503\): $/],
  ]
  for (const [status, body, reason, message] of answers) {
    test(`[CAX-6] takes ${status} with ${JSON.stringify(body)} as ${reason}`, () =>
      failsFor({ kind: 'answer', status, body }, reason, message))
  }

  test('stops reading an endless reply', () =>
    failsFor({ kind: 'endless' }, 'wrong_certificate', /too long/))

  test('[CAX-11] logs neither the token nor more than an excerpt of what the CA says', async () => {
    const logs: unknown[] = []
    await using ca = await startFakeCa({
      script: ({ ott }) => ({
        kind: 'answer',
        status: 403,
        body: JSON.stringify({ message: `bad\n\u001B[31m ${ott} ${'x'.repeat(5000)}` }),
      }),
    })
    await using client = clientOf(ca, { logs })
    const failure = await failureOf(client.sign(await newRequest()))
    const everything = inspect([logs, failure], { depth: 9, maxStringLength: null })
    assert.match(everything, /ca_status: 403/)
    const [call] = ca.calls
    assert.equal(everything.includes(String(call?.ott.split('.')[2])), false)
    assert.ok(failure.message.length < 300)
    // oxlint-disable-next-line no-control-regex -- The test is that there are none.
    assert.doesNotMatch(failure.message, /[\u0000-\u001F]/)
  })

  test('refuses a root file without a certificate', async () => {
    await using ca = await startFakeCa()
    assert.throws(() => clientOf(ca, { rootPem: 'nothing' }), /holds no PEM certificate/)
  })
})
