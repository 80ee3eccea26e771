// A CA over real HTTPS that does what a script says, call by call: sign as asked, or misbehave in a given way.

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose'
import { createIssuer, createRootPem, type Issuer } from '../../src/dev-ca/issuer.ts'
import { generateProvisionerJwk } from '../../src/dev-ca/provisioner.ts'
import { parseCsrPem } from '../../src/pki/csr.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'

export type CaBehaviour =
  | { readonly kind: 'sign' }
  /** Signs once the promise has resolved. */
  | { readonly kind: 'sign_after'; readonly released: Promise<void> }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  /** Takes the request and never answers. */
  | { readonly kind: 'silence' }
  /** Closes the connection instead of answering. */
  | { readonly kind: 'cut' }
  /** A reply without an end. */
  | { readonly kind: 'endless' }
  | { readonly kind: 'wrong_certificate'; readonly fault: CertificateFault }
  /** The right certificate in `crt` and `ca` alone, without a `certChain`. */
  | { readonly kind: 'sign_without_chain' }

/** What it does with a revocation; by default what a step-ca does, which refuses the second one of a serial. */
export type RevokeBehaviour =
  | { readonly kind: 'revoke' }
  /** Revokes, and closes the connection instead of saying so. */
  | { readonly kind: 'revoke_and_cut' }
  /** Revokes, and never says so. */
  | { readonly kind: 'revoke_and_silence' }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'silence' }
  | { readonly kind: 'cut' }

export interface RevokeCall {
  /** 1 for the first. */
  readonly number: number
  readonly ott: string
  readonly claims: JWTPayload
  /** The body, without the token. */
  readonly fields: Readonly<Record<string, unknown>>
}

export type CertificateFault =
  | 'other_key'
  | 'other_common_name'
  | 'extra_san'
  | 'expired'
  | 'other_root'
  /** The right leaf, with an intermediate that did not sign it. */
  | 'other_chain'
  | 'is_ca'

export interface SignCall {
  /** 1 for the first. */
  readonly number: number
  readonly ott: string
  readonly kid: string | undefined
  readonly claims: JWTPayload & { readonly sans?: readonly string[]; readonly cnf?: unknown }
  readonly csrPem: string
  /** As it stands in the request. */
  readonly notAfter: unknown
  readonly headers: IncomingMessage['headers']
}

export interface FakeCa extends AsyncDisposable {
  readonly url: string
  readonly rootPem: string
  readonly provisionerKid: string
  readonly provisionerKey: string
  /** The sign calls so far, oldest first. */
  readonly calls: readonly SignCall[]
  readonly revokeCalls: readonly RevokeCall[]
  /** Serials in decimal, in the order of their revocation. */
  readonly revoked: ReadonlySet<string>
  /** How many pages of provisioners were asked for. */
  readonly provisionerPagesServed: () => number
}

export interface FakeCaOptions {
  /** Signs every time unless given. */
  readonly script?: (call: SignCall) => CaBehaviour
  /** Revokes every time unless given. */
  readonly revokeScript?: (call: RevokeCall) => RevokeBehaviour
  /** The provisioner's name at the moment of the question. */
  readonly provisionerName?: () => string
  /** How many pages without our provisioner come before the one with it. */
  readonly pagesBefore?: number
  /** Of its own certificates and of what it signs; an hour unless given. */
  readonly lifeMs?: number
}

const HOUR_MS = 3_600_000

export async function startFakeCa(options: FakeCaOptions = {}): Promise<FakeCa> {
  const {
    script = () => ({ kind: 'sign' }),
    revokeScript = () => ({ kind: 'revoke' }),
    provisionerName = () => 'fake',
  } = options
  const { lifeMs = HOUR_MS } = options
  const ours = await createAuthority(lifeMs)
  const stranger = await createAuthority(lifeMs)
  const jwk = await generateProvisionerJwk()
  const calls: SignCall[] = []
  const revokeCalls: RevokeCall[] = []
  const revoked = new Set<string>()
  let pagesServed = 0

  const answerSign = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = toSignCall(calls.length + 1, await readBody(request), request.headers)
    calls.push(call)
    const behaviour = script(call)
    if (behaviour.kind === 'sign_after') await behaviour.released
    await behave(behaviour, call, response, { ours, stranger, lifeMs })
  }

  const answerRevoke = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const call = toRevokeCall(revokeCalls.length + 1, await readBody(request))
    revokeCalls.push(call)
    behaveOnRevoke(revokeScript(call), call, response, revoked)
  }

  const answerProvisioners = (url: URL, response: ServerResponse): void => {
    pagesServed += 1
    const page = Number(url.searchParams.get('cursor') ?? 0)
    const isLast = page >= (options.pagesBefore ?? 0)
    const provisioner = isLast
      ? { type: 'JWK', name: provisionerName(), key: { kid: jwk.kid } }
      : { type: 'ACME', name: `acme-${page}` }
    const nextCursor = isLast ? '' : String(page + 1)
    reply(response, 200, JSON.stringify({ provisioners: [provisioner], nextCursor }))
  }

  const server = createServer({ cert: ours.serverCertPem, key: ours.serverKeyPem })
  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', 'https://fake')
    if (url.pathname === '/provisioners') answerProvisioners(url, response)
    else if (url.pathname === '/1.0/revoke') void answerRevoke(request, response)
    else void answerSign(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on TCP has an address object.
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    rootPem: ours.rootPem,
    provisionerKid: jwk.kid,
    provisionerKey: JSON.stringify(jwk),
    calls,
    revokeCalls,
    revoked,
    provisionerPagesServed: () => pagesServed,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface Authority {
  readonly rootPem: string
  readonly issuer: Issuer
  readonly serverCertPem: string
  readonly serverKeyPem: string
}

interface Authorities {
  readonly ours: Authority
  readonly stranger: Authority
  readonly lifeMs: number
}

async function createAuthority(lifeMs: number): Promise<Authority> {
  const validity = validityAround(0, lifeMs)
  const [rootKey, key, serverKey] = await Promise.all([
    generateEcP256Key(),
    generateEcP256Key(),
    generateEcP256Key(),
  ])
  const rootPem = await createRootPem({ commonName: 'Fake Root', ...validity }, rootKey)
  const root = await createIssuer(rootPem, rootKey)
  const intermediatePem = await root.issueIntermediate({
    commonName: 'Fake Intermediate',
    publicKeySpki: key.publicKeySpki,
    ...validity,
  })
  const issuer = await createIssuer(intermediatePem, key)
  const leafPem = await issuer.issueLeaf({
    publicKeySpki: serverKey.publicKeySpki,
    commonName: 'localhost',
    sans: ['localhost', '127.0.0.1'],
    ...validity,
  })
  return { rootPem, issuer, serverCertPem: leafPem + intermediatePem, serverKeyPem: serverKey.pem }
}

async function behave(
  behaviour: CaBehaviour,
  call: SignCall,
  response: ServerResponse,
  authorities: Authorities,
): Promise<void> {
  switch (behaviour.kind) {
    case 'sign':
    case 'sign_after':
      return replyWithChain(response, await issueChain(call, authorities))
    case 'sign_without_chain': {
      const [crt, ca] = await issueChain(call, authorities)
      return reply(response, 201, JSON.stringify({ crt, ca }))
    }
    case 'wrong_certificate':
      return replyWithChain(response, await issueChain(call, authorities, behaviour.fault))
    case 'answer':
      return reply(response, behaviour.status, behaviour.body)
    case 'silence':
      return undefined
    case 'cut':
      response.socket?.destroy()
      return undefined
    case 'endless':
      response.writeHead(201, { 'Content-Type': 'application/json' })
      return pourUntilClosed(response)
  }
}

function behaveOnRevoke(
  behaviour: RevokeBehaviour,
  { fields, claims }: RevokeCall,
  response: ServerResponse,
  revoked: Set<string>,
): void {
  const serial = String(fields['serial'])
  switch (behaviour.kind) {
    case 'revoke':
      return revokeOnce(serial, claims, response, revoked)
    case 'answer':
      return reply(response, behaviour.status, behaviour.body)
    case 'revoke_and_silence':
      revoked.add(serial)
      return undefined
    case 'silence':
      return undefined
    case 'revoke_and_cut':
      revoked.add(serial)
      response.socket?.destroy()
      return undefined
    case 'cut':
      response.socket?.destroy()
      return undefined
  }
}

function revokeOnce(
  serial: string,
  claims: JWTPayload,
  response: ServerResponse,
  revoked: Set<string>,
): void {
  if (claims.sub !== serial) {
    return reply(response, 403, '{"status":403,"message":"serial and subject do not match"}')
  }
  if (revoked.has(serial)) {
    const message = `certificate with serial number '${serial}' is already revoked`
    return reply(response, 400, JSON.stringify({ status: 400, message }))
  }
  revoked.add(serial)
  return reply(response, 200, '{"status":"ok"}')
}

async function issueChain(
  call: SignCall,
  { ours, stranger, lifeMs }: Authorities,
  fault?: CertificateFault,
): Promise<readonly string[]> {
  const csr = parseCsrPem(call.csrPem)
  if (csr === undefined) throw new Error('the client sent something that is not a CSR')
  const { issuer } = fault === 'other_root' ? stranger : ours
  const key = await generateEcP256Key()
  const { sub: subject = '', sans = [] } = call.claims
  const commonName = fault === 'other_common_name' ? 'someone-else' : subject
  const validity = validityAround(fault === 'expired' ? -lifeMs - HOUR_MS : 0, lifeMs)
  const leaf =
    fault === 'is_ca'
      ? await issuer.issueIntermediate({
          commonName,
          publicKeySpki: csr.publicKeySpki,
          ...validity,
        })
      : await issuer.issueLeaf({
          publicKeySpki: fault === 'other_key' ? key.publicKeySpki : csr.publicKeySpki,
          commonName,
          sans: fault === 'extra_san' ? [...sans, 'extra.example'] : sans,
          ...validity,
        })
  return [leaf, (fault === 'other_chain' ? stranger : { issuer }).issuer.certificatePem]
}

function validityAround(
  offsetMs: number,
  lifeMs: number,
): { readonly notBefore: Date; readonly notAfter: Date } {
  const nowMs = Date.now() + offsetMs
  return { notBefore: new Date(nowMs - HOUR_MS), notAfter: new Date(nowMs + lifeMs) }
}

function toSignCall(number: number, body: string, headers: SignCall['headers']): SignCall {
  const { ott, csr, notAfter } = JSON.parse(body) as {
    ott: string
    csr: string
    notAfter?: unknown
  }
  return {
    number,
    ott,
    kid: decodeProtectedHeader(ott).kid,
    claims: decodeJwt(ott),
    csrPem: csr,
    notAfter,
    headers,
  }
}

function toRevokeCall(number: number, body: string): RevokeCall {
  const { ott, ...fields } = JSON.parse(body) as { ott: string } & Record<string, unknown>
  return { number, ott, claims: decodeJwt(ott), fields }
}

function replyWithChain(response: ServerResponse, chain: readonly string[]): void {
  reply(response, 201, JSON.stringify({ crt: chain[0], ca: chain[1], certChain: chain }))
}

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(body)
}

/** Writes as fast as the client reads, until it hangs up. */
function pourUntilClosed(response: ServerResponse): void {
  const chunk = 'x'.repeat(16 * 1024)
  const pour = (): void => {
    while (!response.destroyed && response.write(chunk)) continue
  }
  response.on('drain', pour)
  pour()
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
