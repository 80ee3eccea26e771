// What a hub relies on at its CA, asked of the embedded CA and of the real step-ca alike.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { createLogging } from '../../src/platform/logger.ts'
import { systemClock } from '../../src/platform/clock.ts'
import {
  type Certificate,
  parseCertificatePem,
  subjectAltNamesOf,
} from '../../src/pki/certificates.ts'
import { createCsrPem, parseCsrPem } from '../../src/pki/csr.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import { generateProvisionerJwk } from '../../src/dev-ca/provisioner.ts'
import { CaError, type SignRequest } from '../../src/hub/ca/certificate-authority.ts'
import { parseProvisionerKey } from '../../src/hub/ca/provisioner-key.ts'
import { createStepCaClient, type StepCaClient } from '../../src/hub/ca/step-ca-client.ts'
import { ensureStepCa } from '../../tools/install-step-ca.ts'
import { startDevCa } from '../support/dev-ca.ts'
import {
  breakSignature,
  confirmationOf,
  createRawCsrPem,
  type CsrOptions,
  openRawCaClient,
  type RawCaClient,
  type RawReply,
  secondsFromNow,
  type TokenHeader,
} from '../support/raw-ca-client.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { startStepCa } from '../support/step-ca.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface Rule {
  readonly title: string
  readonly status: number
  readonly csr?: CsrOptions
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: TokenHeader
  readonly body?: Readonly<Record<string, unknown>>
}

const otherJwk = await generateProvisionerJwk()

const SIGN_RULES: readonly Rule[] = [
  { title: 'signs a CSR without SANs', status: 201 },
  { title: 'signs a CSR without a CN', status: 201, csr: { commonName: '' } },
  {
    title: 'signs a CSR whose CN is one of the SANs',
    status: 201,
    csr: { commonName: 'b.example' },
    claims: { sans: ['web-1', 'b.example'] },
  },
  { title: 'refuses a CSR with another CN', status: 403, csr: { commonName: 'web-2' } },
  { title: 'refuses a CN that differs in case', status: 403, csr: { commonName: 'WEB-1' } },
  {
    title: 'signs a CSR with exactly the SANs of the token',
    status: 201,
    csr: { sans: ['b.example', 'web-1'] },
    claims: { sans: ['web-1', 'b.example'] },
  },
  {
    title: 'signs a CSR with exactly the DNS names and addresses of the token',
    status: 201,
    csr: { sans: ['web-1', '10.1.2.3', '2001:db8::1'] },
    claims: { sans: ['web-1', '10.1.2.3', '2001:0db8:0::1'] },
  },
  {
    title: 'refuses a CSR with a SAN more than the token',
    status: 403,
    csr: { sans: ['web-1', 'b.example'] },
    claims: { sans: ['web-1'] },
  },
  {
    title: 'refuses a CSR with a SAN less than the token',
    status: 403,
    csr: { sans: ['web-1'] },
    claims: { sans: ['web-1', 'b.example'] },
  },
  {
    title: 'refuses a CSR with a SAN other than the subject when the token has none',
    status: 403,
    csr: { sans: ['b.example'] },
  },
  { title: 'signs a P-384 key', status: 201, csr: { algorithm: 'P-384' } },
  { title: 'signs an Ed25519 key', status: 201, csr: { algorithm: 'Ed25519' } },
  { title: 'signs an RSA key of 2048 bits', status: 201, csr: { algorithm: 'RSA-2048' } },
  { title: 'refuses an RSA key of 1024 bits', status: 403, csr: { algorithm: 'RSA-1024' } },
  { title: 'refuses a token of another provisioner name', status: 401, claims: { iss: 'someone' } },
  { title: 'refuses a token without an issuer', status: 401, claims: { iss: undefined } },
  { title: 'refuses a token with another key id', status: 401, header: { kid: 'other' } },
  { title: 'refuses a token signed by another key', status: 401, header: { jwk: { ...otherJwk } } },
  {
    title: 'refuses a token for another URL',
    status: 401,
    claims: { aud: 'https://elsewhere.example/1.0/sign' },
  },
  {
    title: 'refuses a token for revoking',
    status: 401,
    claims: { aud: 'https://127.0.0.1/1.0/revoke' },
  },
  { title: 'refuses a token without an audience', status: 401, claims: { aud: undefined } },
  {
    title: 'takes the audience without regard to the port',
    status: 201,
    claims: { aud: 'https://127.0.0.1/1.0/sign' },
  },
  {
    title: 'takes the audience by the short path and another of its names',
    status: 201,
    claims: { aud: ['https://localhost:1/sign'] },
  },
  { title: 'refuses a token without a subject', status: 401, claims: { sub: undefined } },
  {
    title: 'refuses a token with an empty subject',
    status: 401,
    claims: { sub: '', sans: ['web-1'] },
  },
  {
    title: 'takes a token that expired within the leeway',
    status: 201,
    claims: { exp: secondsFromNow(-20) },
  },
  {
    title: 'refuses a token that expired before the leeway',
    status: 401,
    claims: { exp: secondsFromNow(-90) },
  },
  {
    title: 'takes a token that begins within the leeway',
    status: 201,
    claims: { nbf: secondsFromNow(50) },
  },
  {
    title: 'refuses a token that begins after the leeway',
    status: 401,
    claims: { nbf: secondsFromNow(600) },
  },
  {
    title: 'refuses a token issued before the CA started, without leeway',
    status: 401,
    claims: { iat: secondsFromNow(-3600) },
  },
  {
    title: 'takes a token issued now',
    status: 201,
    claims: { iat: secondsFromNow(20) },
  },
  {
    title: 'refuses a token issued in the future',
    status: 401,
    claims: { iat: secondsFromNow(600) },
  },
  { title: 'refuses sans that are not a list', status: 401, claims: { sans: 'web-1' } },
  {
    title: 'refuses a fingerprint of another CSR',
    status: 403,
    claims: { cnf: { 'x5rt#S256': 'A'.repeat(43) } },
  },
  { title: 'refuses a body without a token', status: 400, body: { ott: undefined } },
  { title: 'refuses a token that is none', status: 401, body: { ott: 'not.a.token' } },
  { title: 'refuses a body without a CSR', status: 400, body: { csr: undefined } },
  { title: 'refuses a CSR that is none', status: 400, body: { csr: 'nonsense' } },
  { title: 'refuses a CSR that is not a text', status: 400, body: { csr: 7 } },
  { title: 'refuses less than the shortest validity', status: 403, body: { notAfter: '3m' } },
  { title: 'refuses more than the longest validity', status: 403, body: { notAfter: '25h' } },
  { title: 'refuses a validity that is over', status: 400, body: { notAfter: '-1h' } },
  { title: 'refuses a validity that is none', status: 400, body: { notAfter: 'tomorrow' } },
]

const stepCaIsThere = (await ensureStepCa()) !== undefined

runSuite('svc-ca', false, startDevCa)
runSuite(
  'step-ca',
  stepCaIsThere ? false : 'step-ca is not installed and there is no Go to build it with',
  () => startStepCa({ otherProvisioners: 45 }),
)

function runSuite(name: string, skip: string | false, start: () => Promise<RunningCa>): void {
  describe(`${name} as a certificate authority`, { skip }, () => {
    let ca: RunningCa
    let raw: RawCaClient
    let client: StepCaClient

    before(async () => {
      ca = await start()
      raw = await openRawCaClient(ca)
      client = await clientOf(ca)
    })
    after(async () => {
      await client.close()
      await raw[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
    })

    const sign = async (rule: Omit<Rule, 'title' | 'status'>): Promise<RawReply> =>
      raw.post('/1.0/sign', {
        csr: await createRawCsrPem(rule.csr),
        ott: await raw.token(rule.claims, rule.header),
        ...rule.body,
      })

    for (const rule of SIGN_RULES) {
      test(`${rule.title}: ${rule.status}`, async () => {
        const { status, json } = await sign(rule)
        assert.equal(status, rule.status, JSON.stringify(json))
        if (status === 201) return
        assert.equal(json['status'], rule.status)
        assert.equal(typeof json['message'], 'string')
      })
    }

    test('answers with the leaf, the intermediate (not the root) and both as a chain', async () => {
      const { json } = await sign({})
      const [leaf, intermediate] = [certificateIn(json['crt']), certificateIn(json['ca'])]
      const root = parseCertificatePem(await readFile(ca.rootPath, 'utf8'))
      assert.ok(leaf.x509.verify(intermediate.x509.publicKey))
      assert.ok(intermediate.x509.verify(root.x509.publicKey))
      assert.notEqual(intermediate.sha256, root.sha256)
      const chain = (json['certChain'] as unknown[]).map((pem) => certificateIn(pem).sha256)
      assert.deepEqual(chain, [leaf.sha256, intermediate.sha256])
      assert.equal(typeof json['tlsOptions'], 'object')
    })

    test('makes leaves for TLS servers and clients, for a day, begun a minute ago', async () => {
      const { json } = await sign({})
      const leaf = certificateIn(json['crt'])
      assert.deepEqual(leaf.x509.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
      assert.equal(leaf.x509.ca, false)
      assert.equal(leaf.notAfter.getTime() - leaf.notBefore.getTime(), 24 * HOUR_MS + MINUTE_MS)
      const ageMs = Date.now() - leaf.notBefore.getTime()
      assert.ok(ageMs >= MINUTE_MS && ageMs < 2 * MINUTE_MS, `begun ${ageMs} ms ago`)
    })

    test('takes subject and names from the token, whatever the CSR leaves out', async () => {
      const sans = ['web-1', '*.web.example', '10.1.2.3']
      const { json } = await sign({ csr: { commonName: '' }, claims: { sans } })
      const leaf = certificateIn(json['crt'])
      assert.equal(leaf.commonName, 'web-1')
      assert.deepEqual(subjectAltNamesOf(leaf).toSorted(), sans.toSorted())
    })

    test('makes the subject the only SAN when the token has none', async () => {
      const { json } = await sign({})
      assert.deepEqual(subjectAltNamesOf(certificateIn(json['crt'])), ['web-1'])
    })

    test('honours notAfter as a duration and as an instant', async () => {
      const short = certificateIn((await sign({ body: { notAfter: '10m' } })).json['crt'])
      assert.equal(short.notAfter.getTime() - short.notBefore.getTime(), 11 * MINUTE_MS)
      const end = new Date(Math.ceil(Date.now() / 1000) * 1000 + HOUR_MS)
      const exact = certificateIn(
        (await sign({ body: { notAfter: end.toISOString() } })).json['crt'],
      )
      assert.equal(exact.notAfter.getTime(), end.getTime())
    })

    test('honours notBefore, and then does not backdate', async () => {
      const begin = new Date(Math.ceil(Date.now() / 1000) * 1000 + HOUR_MS)
      const { json } = await sign({ body: { notBefore: begin.toISOString(), notAfter: '2h' } })
      const leaf = certificateIn(json['crt'])
      assert.equal(leaf.notBefore.getTime(), begin.getTime())
      assert.equal(leaf.notAfter.getTime(), begin.getTime() + 2 * HOUR_MS)
    })

    test('signs the CSR that a token is bound to', async () => {
      const csr = await createRawCsrPem()
      const ott = await raw.token({ cnf: confirmationOf(csr) })
      assert.equal((await raw.post('/1.0/sign', { csr, ott })).status, 201)
    })

    test('refuses a CSR with a broken signature', async () => {
      const csr = breakSignature(await createRawCsrPem())
      assert.equal((await sign({ body: { csr } })).status, 400)
    })

    test('refuses a body that is not JSON', async () => {
      assert.equal((await raw.post('/1.0/sign', 'nonsense')).status, 400)
    })

    test('takes a token once, with or without an id', async () => {
      for (const claims of [{}, { jti: undefined }]) {
        const body = { csr: await createRawCsrPem(), ott: await raw.token(claims) }
        assert.equal((await raw.post('/1.0/sign', body)).status, 201)
        const { status, json } = await raw.post('/1.0/sign', body)
        assert.equal(status, 401)
        assert.match(String(json['message']), /token already used|lacked necessary authorization/)
      }
    })

    test('burns a token that is refused for its CSR', async () => {
      const ott = await raw.token()
      const bad = { csr: await createRawCsrPem({ commonName: 'web-2' }), ott }
      assert.equal((await raw.post('/1.0/sign', bad)).status, 403)
      assert.equal((await raw.post('/1.0/sign', { csr: await createRawCsrPem(), ott })).status, 401)
    })

    test('signs once when one token is used twenty times at once', async () => {
      const body = { csr: await createRawCsrPem(), ott: await raw.token() }
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => raw.post('/1.0/sign', body)),
      )
      assert.equal(replies.filter(({ status }) => status === 201).length, 1)
      assert.equal(replies.filter(({ status }) => status === 401).length, 19)
    })

    test('signs at the short path too', async () => {
      const body = { csr: await createRawCsrPem(), ott: await raw.token() }
      assert.equal((await raw.post('/sign', body)).status, 201)
    })

    test('lists provisioners with name and public key only', async () => {
      const { status, json } = await raw.get('/provisioners?limit=100')
      assert.equal(status, 200)
      const list = json['provisioners'] as { type: string; name: string; key: { kid: string } }[]
      const ours = list.find(({ key }) => key.kid === ca.provisionerKid)
      assert.equal(ours?.type, 'JWK')
      assert.equal(ours?.name, ca.provisionerName)
      assert.equal('d' in (ours?.key ?? {}), false)
      assert.equal(json['nextCursor'], '')
      assert.equal((await raw.get('/provisioners?limit=x')).status, 400)
    })

    test('shows its root', async () => {
      const { status, json } = await raw.get('/roots')
      assert.equal(status, 201)
      const rootPem = await readFile(ca.rootPath, 'utf8')
      assert.deepEqual(
        (json['crts'] as string[]).map((pem) => pem.trim()),
        [rootPem.trim()],
      )
      const { json: plain } = await raw.get('/roots.pem')
      assert.equal(String(plain['text']).trim(), rootPem.trim())
    })

    test('is healthy, and knows no other path', async () => {
      assert.deepEqual(await raw.get('/health'), { status: 200, json: { status: 'ok' } })
      assert.equal((await raw.get('/nothing')).status, 404)
      assert.equal((await raw.get('/1.0/sign')).status, 405)
    })

    const revokeToken = (sub: string, aud = `${ca.url}/1.0/revoke`): Promise<string> =>
      raw.token({ sub, aud })
    const signedSerial = async (): Promise<string> => {
      const leaf = certificateIn((await sign({})).json['crt'])
      return BigInt(`0x${leaf.serial}`).toString()
    }

    test('revokes a certificate once, by its decimal serial', async () => {
      const serial = await signedSerial()
      const fields = { serial, passive: true, reasonCode: 1, reason: 'stolen' }
      const first = await raw.post('/1.0/revoke', { ...fields, ott: await revokeToken(serial) })
      assert.deepEqual(first, { status: 200, json: { status: 'ok' } })
      await ca.stop()
      await ca.start()
      const again = await raw.post('/1.0/revoke', { ...fields, ott: await revokeToken(serial) })
      assert.equal(again.status, 400)
    })

    test('refuses to revoke what the token is not about', async () => {
      const serial = await signedSerial()
      const body = { serial, passive: true, reasonCode: 0 }
      const post = async (fields: Readonly<Record<string, unknown>>): Promise<number> =>
        (await raw.post('/1.0/revoke', { ...body, ...fields })).status
      assert.equal(await post({ ott: await revokeToken('1') }), 403)
      assert.equal(await post({ ott: await revokeToken(serial, `${ca.url}/1.0/sign`) }), 401)
      assert.equal(await post({ ott: undefined }), 400)
      assert.equal(await post({ ott: await revokeToken(serial), reasonCode: 11 }), 400)
      assert.equal(await post({ ott: await revokeToken(serial), passive: false }), 501)
      assert.equal(await post({ ott: await revokeToken(serial), serial: 'ff' }), 400)
      assert.equal(await post({ ott: await revokeToken(serial), serial: undefined }), 400)
    })

    test('signs through the client, exactly the names asked for', async () => {
      const sans = ['web-1', '*.web.example', '10.1.2.3', '2001:db8::1']
      const { leaf, intermediates } = await client.sign(await newRequest({ sans }))
      assert.equal(leaf.commonName, 'web-1')
      assert.equal(subjectAltNamesOf(leaf).length, 4)
      assert.equal(intermediates.length, 1)
    })

    test('refuses the client a CSR for another name', async () => {
      const request = await newRequest({ commonName: 'web-2', sans: ['web-2'] })
      await assert.rejects(client.sign(request), (error) => {
        assert.ok(error instanceof CaError)
        assert.deepEqual([error.reason, error.status], ['refused', 403])
        return true
      })
    })

    test('signs for the client right after a restart, on connections that died meanwhile', async () => {
      const request = await newRequest({})
      await client.sign(request)
      await ca.stop()
      await assert.rejects(client.sign(request), { reason: 'unreachable' })
      await ca.start()
      await client.sign(request)
    })
  })
}

async function clientOf(ca: RunningCa): Promise<StepCaClient> {
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  return createStepCaClient({
    caUrl: new URL(ca.url),
    rootPem: await readFile(ca.rootPath, 'utf8'),
    provisionerKey: parseProvisionerKey(ca.provisionerKey),
    provisionerKid: ca.provisionerKid,
    clock: systemClock,
    logger: logging.forModule('ca'),
  })
}

/** The CSR is always for `web-1`. */
async function newRequest({
  commonName = 'web-1',
  sans = ['web-1'],
}: Partial<Pick<SignRequest, 'commonName' | 'sans'>>): Promise<SignRequest> {
  const csr = await parseCsrPem(await createCsrPem('web-1', await generateEcP256Key()))
  assert.ok(csr)
  return { csr, commonName, sans }
}

function certificateIn(pem: unknown): Certificate {
  assert.equal(typeof pem, 'string')
  return parseCertificatePem(String(pem))
}
