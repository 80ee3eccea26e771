// What the hub relies on at its authority, whichever kind it is: one suite for all. docs/protocol.md CAX-23.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, afterEach, before, describe, test } from 'node:test'
import { canonicalIpv6 } from '../../src/platform/canonical-ipv6.ts'
import {
  type AuthorityClient,
  CaError,
  type CaFailureReason,
  type CaSetting,
  type SignedCertificate,
  type SignRequest,
} from '../../src/hub/ca/certificate-authority.ts'
import { parseCertificatePem, subjectAltNamesOf } from '../../src/pki/certificates.ts'
import { parseCsrPem } from '../../src/pki/csr.ts'
import { type HostileServer, startHostileServer } from '../fakes/hostile-server.ts'
import { createRawCsrPem, type CsrOptions } from '../support/raw-ca-client.ts'

export interface ClientChanges {
  /** In place of the CA's server, with the root by which it is known. */
  readonly server?: { readonly url: URL; readonly rootPem: string }
  /** In place of the roots of what it signs. */
  readonly rootPem?: string
  readonly areCredentialsWrong?: boolean
  readonly deadlineMs?: number
}

export interface HeldAuthority extends AsyncDisposable {
  /** Of what it signs. */
  readonly rootPem: string
  client(changes?: ClientChanges): AuthorityClient
  stop(): Promise<void>
  start(): Promise<void>
}

/** What this kind can, and what it cannot. */
export interface Abilities {
  /**
   * `refused`: it says no to a life that is longer than it gives; `shortened`: it gives what it has; `decided`: it lets nobody
   * choose one.
   */
  readonly longLife: 'refused' | 'shortened' | 'decided'
  /** As a CA that signs what a CSR names, once it was proved: no addresses, no CN, nothing for clients, no revocation by serial. */
  readonly isProving?: boolean
  /** Without `*.`, and where a wildcard cannot be proved. */
  readonly hasNoWildcards?: boolean
  /** Of wrong credentials. */
  readonly credentials: CaSetting
  /** Something is asked before the signature, as a login is: whoever does not answer that has signed nothing. */
  readonly isAskedBefore?: boolean
}

const NAME = 'web-1.example.org'
const NAMES = [NAME, 'shop.example.org', '*.shop.example.org', '10.1.2.3', '2001:db8::1']
const ADDRESSES: ReadonlySet<string> = new Set(NAMES.slice(3))
const SERVER_AND_CLIENT = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const NEVER = new AbortController().signal

export function holdToContract(
  name: string,
  options: { skip?: string | false },
  abilities: Abilities,
  start: () => Promise<HeldAuthority>,
): void {
  describe(`[CAX-23] ${name} as one of the authorities`, options, () => {
    let held: HeldAuthority
    let client: AuthorityClient
    const { isProving = false, hasNoWildcards = false } = abilities
    const names = NAMES.filter((each) => !(isProving && ADDRESSES.has(each))).filter(
      (each) => !(hasNoWildcards && each.startsWith('*')),
    )
    // So many orders for the same names an ACME CA is not asked for. CAX-33.
    let lastName = 1
    const newName = (): string => `web-${(lastName += 1)}.example.org`
    const newRequest = (sans: readonly string[], csr: CsrOptions = {}): Promise<SignRequest> =>
      requestFor(sans, { ...csr, ...(isProving && { sans }) })

    before(async () => {
      held = await start()
      client = held.client()
    })
    after(async () => {
      await client.close()
      await held[Symbol.asyncDispose]()
    })

    test('[CAX-12] signs this key, this CN and exactly these names, as a chain that leads to the root', async () => {
      const request = await newRequest(names)
      const { leaf, intermediates, chainPem, rootSha256 } = await client.sign(request)
      assert.ok(leaf.publicKeySpki.equals(request.csr.publicKeySpki))
      assert.equal(leaf.commonName, isProving ? undefined : NAME)
      const found = subjectAltNamesOf(leaf).map((each) => canonicalIpv6(each))
      assert.deepEqual(found.toSorted(), names.map((each) => canonicalIpv6(each)).toSorted())
      assert.equal(leaf.x509.ca, false)
      const root = parseCertificatePem(held.rootPem)
      assert.equal(rootSha256, root.sha256)
      assert.ok(
        intermediates.length > 0 && intermediates.every((each) => each.sha256 !== rootSha256),
      )
      const chain = [leaf, ...intermediates, root]
      for (const [at, issuer] of chain.slice(1).entries()) {
        assert.ok(chain[at]?.x509.verify(issuer.x509.publicKey), `link ${at}`)
      }
      assert.equal(chainPem, [leaf, ...intermediates].map(({ pem }) => pem).join(''))
    })

    test('gives what TLS servers and clients need, for a day', async () => {
      const { leaf } = await client.sign(await newRequest([newName()]))
      const usage = isProving ? SERVER_AND_CLIENT.slice(0, 1) : SERVER_AND_CLIENT
      assert.deepEqual([...leaf.x509.keyUsage].toSorted(), usage)
      assertLife(leaf, DAY_MS)
    })

    for (const algorithm of ['P-384', 'Ed25519', 'RSA-2048'] as const) {
      test(`signs a key of ${algorithm}`, async () => {
        const request = await newRequest([newName()], { algorithm })
        if (isProving && algorithm === 'Ed25519') {
          // Public CAs sign none; and the next request for the name is not held up by it.
          assert.equal((await failureOf(client.sign(request))).reason, 'refused')
          return
        }
        assert.ok((await client.sign(request)).leaf.publicKeySpki.equals(request.csr.publicKeySpki))
      })
    }

    test('signs the same CSR twice, under two serials', async () => {
      const request = await newRequest([newName()])
      const [one, other] = [await client.sign(request), await client.sign(request)]
      assert.notEqual(one.leaf.serial, other.leaf.serial)
    })

    test('[CAX-10] signs many at once, each its own', async () => {
      const hosts = Array.from({ length: isProving ? 12 : 40 }, (_, at) => `host-${at}.example.org`)
      const signed = await Promise.all(
        hosts.map(async (host) => client.sign(await newRequest([host], { commonName: host }))),
      )
      assert.deepEqual(
        signed.map(({ leaf }) => subjectAltNamesOf(leaf)),
        hosts.map((host) => [host]),
      )
    })

    test('[POL-7] gives the life that is asked for, and never a longer one', async () => {
      const request = await newRequest([newName()])
      if (abilities.longLife === 'decided') {
        const asked = await failureOf(client.sign({ ...request, lifetimeSeconds: 900 }))
        assert.deepEqual([asked.reason, asked.isAnswerLost], ['refused', false])
        assert.equal(asked.message, client.whyNoLifetime)
        return
      }
      assert.equal(client.whyNoLifetime, undefined)
      assertLife((await client.sign({ ...request, lifetimeSeconds: 900 })).leaf, 15 * MINUTE_MS)
      const long = client.sign({ ...request, lifetimeSeconds: 400 * 86_400 })
      if (abilities.longLife === 'shortened') return assertLife((await long).leaf, DAY_MS)
      const { reason, isAnswerLost } = await failureOf(long)
      assert.deepEqual([reason, isAnswerLost], ['refused', false])
    })

    test('[REV-4] revokes by the serial, as often as it is asked', async () => {
      const { leaf } = await client.sign(await newRequest([newName()]))
      if (isProving) {
        const { kind } = await client.revoke(leaf.serial, NEVER)
        assert.equal(kind, 'refused')
        return
      }
      assert.deepEqual(await client.revoke(leaf.serial, NEVER), { kind: 'revoked' })
      for (const _ of [1, 2]) {
        const { kind } = await client.revoke(leaf.serial, NEVER)
        assert.ok(kind === 'revoked' || kind === 'already_revoked', kind)
      }
      await client.sign(await newRequest([newName()]))
    })

    test('ends a revocation at once with the reason of the signal', async () => {
      if (isProving) return
      const stop = new AbortController()
      const underWay = client.revoke('0123456789abcdef', stop.signal)
      stop.abort(new Error('the hub stops'))
      await assert.rejects(underWay, /the hub stops/)
    })

    test('[BOOT-34] says no to wrong credentials, names the setting, and goes on with the right ones', async () => {
      await using stranger = held.client({ areCredentialsWrong: true })
      const failure = await failureOf(stranger.sign(await newRequest([newName()])))
      assert.deepEqual(
        [failure.reason, failure.variable, failure.isAnswerLost],
        ['refused', abilities.credentials, false],
      )
      // Another day they may be right ones.
      assert.equal((await stranger.revoke('0a0b', NEVER)).kind, isProving ? 'refused' : 'failed')
      await client.sign(await newRequest([newName()]))
    })

    test('[CAX-7] takes nothing that leads to another root', async () => {
      const other = await startHostileServer()
      await other[Symbol.asyncDispose]()
      await using strict = held.client({ rootPem: other.rootPem })
      const host = newName()
      const { reason } = await failureOf(strict.sign(await newRequest([host])))
      assert.ok(reason === 'wrong_certificate' || reason === 'unreachable', reason)
      strict.useRoots(other.rootPem + held.rootPem)
      await strict.sign(await newRequest([host]))
    })

    test('is unreachable while it is away, and signs again on connections that died meanwhile', async () => {
      const request = await newRequest([newName()])
      await held.stop()
      const { reason } = await failureOf(client.sign(request))
      assert.equal(reason, 'unreachable')
      assert.equal((await client.revoke('0a0b', NEVER)).kind, isProving ? 'refused' : 'failed')
      await held.start()
      client.useRoots(held.rootPem)
      await client.sign(request)
    })

    describe('whatever answers in its place', () => {
      let hostile: HostileServer
      let deceived: AuthorityClient

      before(async () => {
        hostile = await startHostileServer()
        deceived = held.client({ server: hostile, deadlineMs: 500 })
      })
      // What all requests wait for, as for a directory, goes on longer than one of them: the next one finds nothing under way.
      const unanswered: ServerResponse[] = []
      afterEach(() => {
        for (const response of unanswered.splice(0)) response.destroy()
      })
      after(async () => {
        await deceived.close()
        await hostile[Symbol.asyncDispose]()
      })

      for (const { what, answer, reasons, isAnswerLost } of HOSTILE_ANSWERS) {
        test(`${what}: ${reasons.join(' or ')}`, async () => {
          hostile.answer = (_request, response) => {
            if (answer === undefined) unanswered.push(response)
            else answer(response)
          }
          const failure = await failureOf(deceived.sign(await newRequest([newName()])))
          assert.ok(reasons.includes(failure.reason), `${failure.reason}: ${failure.message}`)
          assert.equal(failure.isAnswerLost, isAnswerLost && abilities.isAskedBefore !== true)
          assert.equal(failure.leaf, undefined)
          assert.ok(failure.message.length < 400)
          // oxlint-disable-next-line no-control-regex -- The test is that there are none.
          assert.doesNotMatch(failure.message, /[\u0000-\u001F]/)
          const outcome = await deceived.revoke('0a0b', NEVER)
          assert.ok(outcome.kind === 'failed' || outcome.kind === 'refused', outcome.kind)
        })
      }
    })
  })
}

interface HostileAnswer {
  readonly what: string
  readonly answer: ((response: ServerResponse) => void) | undefined
  readonly reasons: readonly CaFailureReason[]
  readonly isAnswerLost: boolean
}

const answerWith =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body)

const CUT_PEM = '-----BEGIN CERTIFICATE-----\\nMIIB'
const HALF_A_CERTIFICATE = `{"crt":"${CUT_PEM}","data":{"certificate":"${CUT_PEM}"}}`

const HOSTILE_ANSWERS: readonly HostileAnswer[] = [
  { what: 'a 400', answer: answerWith(400, '{}'), reasons: ['refused'], isAnswerLost: false },
  {
    what: 'a 500',
    answer: answerWith(500, '<html>'),
    reasons: ['unreachable'],
    isAnswerLost: true,
  },
  {
    what: 'a way to elsewhere',
    answer: answerWith(307, '', { location: 'https://127.0.0.1:1/' }),
    reasons: ['unreachable'],
    isAnswerLost: true,
  },
  {
    what: 'a page with control characters',
    answer: answerWith(502, `\u001B[31m${'x'.repeat(5000)}\r\n`),
    reasons: ['unreachable'],
    isAnswerLost: true,
  },
  ...[200, 201].flatMap((status): HostileAnswer[] => {
    const lost = { reasons: ['unreachable', 'wrong_certificate'], isAnswerLost: true } as const
    return [
      { what: `${status} with a page`, answer: answerWith(status, '<html>Log in'), ...lost },
      { what: `${status} with null`, answer: answerWith(status, 'null'), ...lost },
      { what: `${status} with a list`, answer: answerWith(status, '[{"data":[]}]'), ...lost },
      {
        what: `${status} with half a certificate`,
        answer: answerWith(status, HALF_A_CERTIFICATE),
        ...lost,
      },
      {
        what: `${status} without an end`,
        answer: (response) => {
          response.writeHead(status)
          pour(response)
        },
        ...lost,
      },
    ]
  }),
  {
    what: 'a cut',
    answer: (response) => void response.socket?.destroy(),
    reasons: ['unreachable'],
    isAnswerLost: true,
  },
  { what: 'silence', answer: undefined, reasons: ['timeout'], isAnswerLost: true },
  // Last: some ask nothing any more for as long as it says.
  {
    what: 'a 429',
    answer: answerWith(429, '', { 'retry-after': '1' }),
    reasons: ['unreachable'],
    isAnswerLost: false,
  },
]

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const more = (): void => {
    while (!response.destroyed && response.write(chunk)) continue
  }
  response.on('drain', more)
  more()
}

function assertLife({ notAfter }: SignedCertificate['leaf'], wantedMs: number): void {
  const leftMs = notAfter.getTime() - Date.now()
  assert.ok(
    leftMs <= wantedMs + MINUTE_MS && leftMs > wantedMs - MINUTE_MS,
    `${leftMs} ms are left`,
  )
}

/** The CSR names its CN alone, as those of agents do for most CAs. */
async function requestFor(
  sans: readonly string[],
  { commonName = sans[0] ?? NAME, ...rest }: CsrOptions = {},
): Promise<SignRequest> {
  const csr = parseCsrPem(await createRawCsrPem({ commonName, ...rest }))
  assert.ok(csr)
  return { csr, commonName, sans }
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
