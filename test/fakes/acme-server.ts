// An ACME CA as the hub's client sees it, over real HTTPS: it believes everybody, and does what a script says. test/foreign has the real one.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseCsrPem } from '../../src/pki/csr.ts'
import { encodePem } from '../../src/pki/pem.ts'
import { type Authority, createAuthority } from './ca-server.ts'
import { startHostileServer } from './hostile-server.ts'

export interface AcmeAnswer {
  readonly status: number
  readonly json?: object
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface FakeAcme extends AsyncDisposable {
  readonly directoryUrl: URL
  readonly rootPem: string
  readonly tlsRootPem: string
  /** The paths that were asked for, oldest first. */
  readonly asked: readonly string[]
  readonly timesAsked: (path: string) => number
  /** What it does in place of what a CA does, which `usual` does: undefined is that, and `cut` closes the connection. */
  answer: AcmeScript | undefined
}

export type AcmeScript = (
  path: string,
  usual: () => Promise<AcmeAnswer>,
) => AcmeAnswer | 'cut' | undefined | Promise<AcmeAnswer | 'cut' | undefined>

const LIFE_MS = 3_600_000

export async function startFakeAcme(): Promise<FakeAcme> {
  const pki = await createAuthority(LIFE_MS)
  const server = await startHostileServer()
  const asked: string[] = []
  const fake: FakeAcme = {
    directoryUrl: new URL('/dir', server.url),
    rootPem: pki.rootPem,
    tlsRootPem: server.rootPem,
    asked,
    timesAsked: (path) => asked.filter((each) => each === path).length,
    answer: undefined,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  const state = { chain: '', nonces: 0 }
  server.answer = (incoming, response) => void answerOne(fake, pki, state, incoming, response)
  return fake
}

interface State {
  chain: string
  nonces: number
}

async function answerOne(
  fake: FakeAcme,
  pki: Authority,
  state: State,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = incoming.url ?? ''
  const payload = await readPayload(incoming)
  ;(fake.asked as string[]).push(path)
  const usual = (): Promise<AcmeAnswer> => answerAsCa(fake, pki, state, path, payload)
  const answer = (await fake.answer?.(path, usual)) ?? (await usual())
  if (answer === 'cut') {
    response.destroy()
    return
  }
  state.nonces += 1
  const { status, json, body = JSON.stringify(json ?? {}), headers } = answer
  response.writeHead(status, { 'replay-nonce': `nonce-${state.nonces}`, ...headers }).end(body)
}

async function answerAsCa(
  { directoryUrl }: FakeAcme,
  pki: Authority,
  state: State,
  path: string,
  payload: Readonly<Record<string, unknown>>,
): Promise<AcmeAnswer> {
  const url = (of: string): string => new URL(of, directoryUrl).href
  const order = { finalize: url('/finalize'), authorizations: [url('/auth')] }
  const signed = { ...order, status: 'valid', certificate: url('/certificate') }
  switch (path) {
    case '/dir':
      return {
        status: 200,
        json: { newNonce: url('/nonce'), newAccount: url('/account'), newOrder: url('/order') },
      }
    case '/account':
      return { status: 201, headers: { location: url('/me') } }
    case '/order':
      state.chain = ''
      return {
        status: 201,
        json: { ...order, status: 'ready' },
        headers: { location: url('/order/1') },
      }
    case '/auth':
      return { status: 200, json: { status: 'valid' } }
    case '/order/1':
      return { status: 200, json: state.chain === '' ? { ...order, status: 'ready' } : signed }
    case '/finalize':
      state.chain = await issue(pki, String(payload['csr']))
      return { status: 200, json: signed }
    case '/certificate':
      return { status: 200, body: state.chain }
    default:
      return { status: path === '/nonce' ? 200 : 404 }
  }
}

async function issue({ issuer }: Authority, csr: string): Promise<string> {
  const parsed = parseCsrPem(encodePem(Buffer.from(csr, 'base64url'), 'CERTIFICATE REQUEST'))
  if (parsed === undefined) throw new Error('the client sent something that is not a CSR')
  const now = Date.now()
  const leaf = await issuer.issueLeaf({
    publicKeySpki: parsed.publicKeySpki,
    commonName: parsed.commonName ?? '',
    sans: [...(parsed.sans ?? [])],
    notBefore: new Date(now - 30_000),
    notAfter: new Date(now + LIFE_MS / 2),
  })
  return leaf + issuer.certificatePem
}

async function readPayload(incoming: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  if (text === '') return {}
  const { payload } = JSON.parse(text) as { readonly payload: string }
  const decoded = Buffer.from(payload, 'base64url').toString()
  return decoded === '' ? {} : (JSON.parse(decoded) as Record<string, unknown>)
}
