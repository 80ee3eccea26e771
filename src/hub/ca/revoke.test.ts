import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { describe, test } from 'node:test'
import {
  type FakeCa,
  type FakeCaOptions,
  type RevokeBehaviour,
  startFakeCa,
} from '../../../test/fakes/ca-server.ts'
import { createGate } from '../../../test/support/scripted-ca.ts'
import { systemClock } from '../../platform/clock.ts'
import { createCsrPem, parseCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import type { AuthorityClient, RevocationOutcome } from './certificate-authority.ts'
import { parseProvisionerKey } from './provisioner-key.ts'
import { createStepCaClient } from './step-ca-client.ts'

const SERIAL = '00ff'
const NEVER = new AbortController().signal

function clientOf(ca: FakeCa, logs: unknown[] = [], deadlineMs?: number): AuthorityClient {
  const log = (...entry: unknown[]): void => void logs.push(entry)
  return createStepCaClient({
    caUrl: new URL(ca.url),
    rootPem: ca.rootPem,
    provisionerKey: parseProvisionerKey(ca.provisionerKey),
    provisionerKid: ca.provisionerKid,
    clock: systemClock,
    logger: { trace: log, debug: log, info: log, warn: log, error: log },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  })
}

async function outcomeOf(
  revokeScript: NonNullable<FakeCaOptions['revokeScript']>,
  deadlineMs?: number,
): Promise<RevocationOutcome> {
  await using ca = await startFakeCa({ revokeScript })
  await using client = clientOf(ca, [], deadlineMs)
  return await client.revoke(SERIAL, NEVER)
}

const describeOutcome = (outcome: RevocationOutcome): string =>
  'reason' in outcome ? `${outcome.kind}: ${outcome.reason}` : outcome.kind

describe('step-ca client, revoking', () => {
  test('[REV-3] sends the serial in decimal, passively, and a token for this serial and nothing else', async () => {
    await using ca = await startFakeCa({ provisionerName: () => 'the provisioner' })
    await using client = clientOf(ca)
    assert.deepEqual(await client.revoke(SERIAL, NEVER), { kind: 'revoked' })
    const [call] = ca.revokeCalls
    assert.deepEqual(call?.fields, {
      serial: '255',
      passive: true,
      reasonCode: 0,
      reason: 'agent revoked',
    })
    const { jti: _, nbf: __, exp: ___, ...claims } = call.claims
    assert.deepEqual(claims, {
      iss: 'the provisioner',
      aud: `${ca.url}/1.0/revoke`,
      sub: '255',
    })
  })

  test('[REV-4] knows that it was revoked before, also by a call whose answer was lost', async () => {
    await using ca = await startFakeCa({
      revokeScript: ({ number }) => ({ kind: number === 1 ? 'revoke_and_cut' : 'revoke' }),
    })
    await using client = clientOf(ca)
    assert.deepEqual(await client.revoke(SERIAL, NEVER), { kind: 'already_revoked' })
    assert.equal(ca.revokeCalls.length, 2)
    assert.notEqual(ca.revokeCalls[0]?.claims.jti, ca.revokeCalls[1]?.claims.jti)
    assert.deepEqual(await client.revoke(SERIAL, NEVER), { kind: 'already_revoked' })
  })

  const answers: readonly (readonly [status: number, body: string, outcome: RegExp])[] = [
    [400, '{"status":400,"message":"reasonCode out of bounds"}', /^refused: .*\(400\): reasonCode/],
    [403, '{"status":403,"message":"no"}', /^refused: the CA refused to revoke \(403\): no$/],
    [404, '404 page not found', /^refused: .*\(404\)/],
    [405, '', /^refused: .*\(405\)/],
    [501, '{"status":501,"message":"Not Implemented"}', /^refused: .*\(501\)/],
    [200, '<html>Please log in</html>', /^failed: .*\(200\)/],
    [200, 'null', /^failed: .*\(200\)/],
    [302, '', /^failed: .*\(302\)/],
    [401, '{"status":401,"message":"used"}', /^failed: .*\(401\): used$/],
    [408, '', /^failed: .*\(408\)/],
    [429, '', /^failed: .*\(429\)/],
    [500, '<html>oops', /^failed: .*\(500\): <html>oops$/],
    [503, '', /^failed: .*\(503\)/],
  ]
  for (const [status, body, outcome] of answers) {
    test(`[REV-5] [REV-6] takes ${status} with ${JSON.stringify(body)} as ${String(outcome).slice(2, 9)}`, async () => {
      assert.match(
        describeOutcome(await outcomeOf(() => ({ kind: 'answer', status, body }))),
        outcome,
      )
    })
  }

  const faults: readonly (readonly [RevokeBehaviour['kind'], RegExp])[] = [
    ['cut', /^failed: the CA cannot be reached/],
    ['silence', /^failed: the CA did not answer within 0\.2 s$/],
  ]
  for (const [kind, outcome] of faults) {
    test(`[REV-6] takes a ${kind} as failed, not as an exception`, async () => {
      const behaviour = { kind } as RevokeBehaviour
      assert.match(describeOutcome(await outcomeOf(() => behaviour, 200)), outcome)
    })
  }

  test('[REV-3] asks for the name of the provisioner again after a 401', async () => {
    let name = 'old'
    await using ca = await startFakeCa({
      provisionerName: () => name,
      revokeScript: ({ claims }) =>
        claims.iss === 'new' ? { kind: 'revoke' } : { kind: 'answer', status: 401, body: '' },
    })
    await using client = clientOf(ca)
    assert.equal((await client.revoke(SERIAL, NEVER)).kind, 'failed')
    name = 'new'
    assert.equal((await client.revoke(SERIAL, NEVER)).kind, 'revoked')
  })

  test('ends at once with the reason of the signal', async () => {
    await using ca = await startFakeCa({ revokeScript: () => ({ kind: 'silence' }) })
    await using client = clientOf(ca)
    const stop = new AbortController()
    const underWay = client.revoke(SERIAL, stop.signal)
    stop.abort(new Error('the hub stops'))
    await assert.rejects(underWay, /the hub stops/)
  })

  test('[CAX-10] stands in the same line as signing, and is told when that is full', async () => {
    const gate = createGate()
    await using ca = await startFakeCa({
      script: () => ({ kind: 'sign_after', released: gate.opened }),
    })
    await using client = clientOf(ca)
    const csr = parseCsrPem(await createCsrPem('web-1', await generateEcP256Key()))
    assert.ok(csr)
    const request = { csr, commonName: 'web-1', sans: ['web-1'] }
    const accepted = Array.from({ length: 80 }, () => client.sign(request))
    const outcome = await client.revoke(SERIAL, NEVER)
    assert.equal(describeOutcome(outcome), 'failed: too many calls to the CA are waiting')
    assert.equal(ca.revokeCalls.length, 0)
    gate.open()
    await Promise.all(accepted)
  })

  test('[CAX-11] tells neither log nor caller the token, and only an excerpt of what the CA says', async () => {
    const logs: unknown[] = []
    await using ca = await startFakeCa({
      revokeScript: ({ ott }) => ({
        kind: 'answer',
        status: 403,
        body: JSON.stringify({ message: `bad\n\u001B[31m ${ott} ${'x'.repeat(5000)}` }),
      }),
    })
    await using client = clientOf(ca, logs)
    const outcome = await client.revoke(SERIAL, NEVER)
    const everything = inspect([logs, outcome], { depth: 9, maxStringLength: null })
    assert.equal(everything.includes(String(ca.revokeCalls[0]?.ott.split('.')[2])), false)
    assert.ok(describeOutcome(outcome).length < 300)
    // oxlint-disable-next-line no-control-regex -- The test is that there are none.
    assert.doesNotMatch(describeOutcome(outcome), /[\u0000-\u001F]/)
  })
})
