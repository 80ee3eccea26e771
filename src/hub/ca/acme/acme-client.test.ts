// What the hub never asks an ACME CA for. test/foreign holds the client to the contract of all kinds, with the real Pebble.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { type HostileServer, startHostileServer } from '../../../../test/fakes/hostile-server.ts'
import { systemClock } from '../../../platform/clock.ts'
import { SILENT_LOGGER } from '../../../platform/silent-logger.ts'
import { createCsrPem, parseCsrPem } from '../../../pki/csr.ts'
import { generateEcP256Key } from '../../../pki/keys.ts'
import { type AuthorityClient, CaError, type SignRequest } from '../certificate-authority.ts'
import { parseAccountKey } from './acme-account-key.ts'
import { createAcmeClient } from './acme-client.ts'
import type { ChallengeType } from './acme-hook.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const accountKey = parseAccountKey(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())

function clientOf(
  server: HostileServer,
  challengeType: ChallengeType = 'http-01',
): AuthorityClient {
  return createAcmeClient({
    directoryUrl: new URL('/dir', server.url),
    rootPem: server.rootPem,
    accountKey,
    challengeType,
    runHook: () => assert.fail('no hook is called'),
    clock: systemClock,
    logger: SILENT_LOGGER,
    deadlineMs: 2000,
  })
}

async function requestFor(
  sans: readonly string[],
  csrNames: readonly string[] = sans,
): Promise<SignRequest> {
  const csr = parseCsrPem(await createCsrPem('web-1', await generateEcP256Key(), csrNames))
  assert.ok(csr)
  return { csr, commonName: 'web-1', sans }
}

async function failureOf(work: Promise<unknown>): Promise<CaError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof CaError)
  return error
}

describe('[CAX-25] what no ACME CA signs', () => {
  for (const { what, sans, csrNames, more, why } of [
    {
      what: 'an address',
      sans: ['web-1', '10.1.2.3'],
      why: /signs names, and 10\.1\.2\.3 is an address/,
    },
    {
      what: 'a wildcard by http-01',
      sans: ['web-1', '*.b'],
      why: /\*\.b can be proved by dns-01 alone/,
    },
    {
      what: 'a name that the CSR has not',
      sans: ['web-1', 'b'],
      csrNames: [],
      why: /takes the names from the CSR, which has web-1 and not web-1, b/,
    },
    {
      what: 'fewer names than the CSR has',
      sans: ['web-1'],
      csrNames: ['web-1', 'bank'],
      why: /which has web-1, bank and not web-1$/,
    },
    {
      what: 'a life that somebody chose',
      sans: ['web-1'],
      more: { lifetimeSeconds: 60 },
      why: /decides by itself how long/,
    },
  ] as const) {
    test(`is ${what}: it is not asked`, async () => {
      await using server = await startHostileServer()
      await using client = clientOf(server)
      const names = csrNames ?? sans.filter((name) => !/^[\d.]+$/.test(name))
      const request = { ...(await requestFor(sans, names)), ...more }
      const failure = await failureOf(client.sign(request))
      assert.deepEqual([failure.reason, failure.isAnswerLost], ['refused', false])
      assert.match(failure.message, why)
      assert.equal(server.requests(), 0)
    })
  }

  test('[REV-13] and it revokes nothing by a serial', async () => {
    await using server = await startHostileServer()
    await using client = clientOf(server)
    const outcome = await client.revoke('0a', new AbortController().signal)
    assert.equal(outcome.kind, 'refused')
    await assert.rejects(client.revoke('0a', AbortSignal.abort(new Error('stopping'))), /stopping/)
    assert.equal(server.requests(), 0)
  })

  test('[ENV-71] a root of the server that is not the one is named', async () => {
    await using server = await startHostileServer()
    await using other = await startHostileServer()
    await using client = createAcmeClient({
      directoryUrl: server.url,
      rootPem: server.rootPem,
      tlsRootPem: other.rootPem,
      accountKey,
      challengeType: 'dns-01',
      runHook: () => assert.fail('no hook is called'),
      clock: systemClock,
      logger: SILENT_LOGGER,
    })
    const { variable } = await failureOf(client.sign(await requestFor(['web-1'])))
    assert.equal(variable, 'SVC_ACME_TLS_ROOT_PATH')
  })
})
