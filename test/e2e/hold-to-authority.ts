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
import {
  type AuthorityClient,
  CaError,
  type SignRequest,
} from '../../src/hub/ca/certificate-authority.ts'
import { parseProvisionerKey } from '../../src/hub/ca/provisioner-key.ts'
import { createStepCaClient } from '../../src/hub/ca/step-ca-client.ts'
import {
  breakSignature,
  confirmationOf,
  createRawCsrPem,
  openRawCaClient,
  type RawCaClient,
  type RawReply,
} from '../support/raw-ca-client.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { SIGN_RULES, type SignRule } from './sign-rules.ts'

interface StartOptions {
  readonly certDuration?: string
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export function holdToAuthority(
  name: string,
  options: { skip?: string | false },
  start: (options: StartOptions) => Promise<RunningCa>,
): void {
  describe(`${name} as a certificate authority`, options, () => {
    let ca: RunningCa
    let raw: RawCaClient
    let client: AuthorityClient

    before(async () => {
      ca = await start({})
      raw = await openRawCaClient(ca)
      client = await clientOf(ca)
    })
    after(async () => {
      await client.close()
      await raw[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
    })

    const sign = async (rule: Omit<SignRule, 'title' | 'status'>): Promise<RawReply> =>
      raw.post('/1.0/sign', {
        csr: await createRawCsrPem(rule.csr),
        ott: await raw.token(rule.claims, rule.header),
        ...rule.body,
      })

    for (const rule of SIGN_RULES) {
      test(`${rule.status === 201 ? '' : '[DCA-3] '}${rule.title}: ${rule.status}`, async () => {
        const { status, json } = await sign(rule)
        assert.equal(status, rule.status, JSON.stringify(json))
        if (status === 201) return
        assert.equal(json['status'], rule.status)
        assert.equal(typeof json['message'], 'string')
      })
    }

    test('[CAX-6] [DCA-2] answers with the leaf, the intermediate (not the root) and both as a chain', async () => {
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

    test('[CAX-4] signs the CSR that a token is bound to', async () => {
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

    test('[DCA-3] takes a token once, with or without an id', async () => {
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
      // A step-ca whose database saw two of them at once answers 500 to one, which is a no as well.
      const others = replies.filter(({ status }) => status === 401 || status === 500)
      assert.equal(others.length, 19)
    })

    test('signs at the short path too', async () => {
      const body = { csr: await createRawCsrPem(), ott: await raw.token() }
      assert.equal((await raw.post('/sign', body)).status, 201)
    })

    test('[DCA-2] lists provisioners with name and public key only', async () => {
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

    test('[DCA-2] shows its root', async () => {
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

    test('[DCA-2] is healthy, and knows no other path', async () => {
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

    test('[DCA-4] revokes a certificate once, by its decimal serial', async () => {
      const serial = await signedSerial()
      const fields = { serial, passive: true, reasonCode: 1, reason: 'stolen' }
      const first = await raw.post('/1.0/revoke', { ...fields, ott: await revokeToken(serial) })
      assert.deepEqual(first, { status: 200, json: { status: 'ok' } })
      await ca.stop()
      await ca.start()
      const again = await raw.post('/1.0/revoke', { ...fields, ott: await revokeToken(serial) })
      assert.equal(again.status, 400)
    })

    test('[DCA-4] refuses to revoke what the token is not about', async () => {
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

    test('[CAX-1] [CAX-3] signs through the client, exactly the names asked for', async () => {
      const sans = ['web-1', '*.web.example', '10.1.2.3', '2001:db8::1']
      const { leaf, intermediates } = await client.sign(await newRequest({ sans }))
      assert.equal(leaf.commonName, 'web-1')
      assert.equal(subjectAltNamesOf(leaf).length, 4)
      assert.equal(intermediates.length, 1)
    })

    test('[REV-3] [REV-4] revokes for the client, and says of the second time that it was before', async () => {
      const { leaf } = await client.sign(await newRequest({}))
      const { signal } = new AbortController()
      assert.deepEqual(await client.revoke(leaf.serial, signal), { kind: 'revoked' })
      assert.deepEqual(await client.revoke(leaf.serial, signal), { kind: 'already_revoked' })
      assert.deepEqual(await client.revoke(leaf.serial, signal), { kind: 'already_revoked' })
    })

    test('[POL-7] gives the client the life that it asks for, and says why it refuses more than it may', async () => {
      const request = await newRequest({})
      const { leaf } = await client.sign({ ...request, lifetimeSeconds: 900 })
      assert.equal(leaf.notAfter.getTime() - leaf.notBefore.getTime(), 16 * MINUTE_MS)
      const tooLong = client.sign({ ...request, lifetimeSeconds: 400 * 86_400 })
      await assert.rejects(tooLong, (error) => {
        assert.ok(error instanceof CaError)
        assert.deepEqual([error.reason, error.status], ['refused', 403])
        assert.match(error.message, /more than the authorized maximum/)
        return true
      })
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

    test('makes short-lived certificates when it is asked to, as stories about renewal need', async () => {
      await using quick = await start({ certDuration: '40s' })
      await using quickClient = await clientOf(quick)
      const { leaf } = await quickClient.sign(await newRequest({}))
      assert.equal(leaf.notAfter.getTime() - leaf.notBefore.getTime(), MINUTE_MS + 40_000)
    })
  })
}

async function clientOf(ca: RunningCa): Promise<AuthorityClient> {
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
  const csr = parseCsrPem(await createCsrPem('web-1', await generateEcP256Key()))
  assert.ok(csr)
  return { csr, commonName, sans }
}

function certificateIn(pem: unknown): Certificate {
  assert.equal(typeof pem, 'string')
  return parseCertificatePem(String(pem))
}
