// An OpenBao as the hub's client sees it, over real HTTPS: its replies have the shape of those of OpenBao 2.7.2, and it does what a
// script says. test/foreign has the real one.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import { parseCsrPem } from '../../src/pki/csr.ts'
import { type Authority, createAuthority } from './ca-server.ts'
import { startHostileServer } from './hostile-server.ts'

export interface BaoRequest {
  readonly path: string
  readonly token: string | undefined
  readonly namespace: string | undefined
  readonly fields: Readonly<Record<string, string>>
}

export interface FakeOpenBao extends AsyncDisposable {
  readonly url: URL
  readonly rootPem: string
  readonly tlsRootPem: string
  readonly requests: readonly BaoRequest[]
  /** The tokens of its logins that it still accepts. */
  readonly tokens: Set<string>
  /** What it does in place of what OpenBao does: undefined is that, and `cut` closes the connection. */
  answer:
    | ((
        request: BaoRequest,
      ) => { readonly status: number; readonly json: object } | 'cut' | undefined)
    | undefined
  /** As a role with `use_csr_sans`. */
  areNamesOfCsr: boolean
}

const LIFE_MS = 3_600_000

export async function startFakeOpenBao(): Promise<FakeOpenBao> {
  const pki = await createAuthority(LIFE_MS)
  const server = await startHostileServer()
  const requests: BaoRequest[] = []
  const bao: FakeOpenBao = {
    url: server.url,
    rootPem: pki.rootPem,
    tlsRootPem: server.rootPem,
    requests,
    tokens: new Set(),
    answer: undefined,
    areNamesOfCsr: false,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  server.answer = (incoming, response) => void answerOne(bao, pki, incoming, response)
  return bao
}

async function answerOne(
  bao: FakeOpenBao,
  pki: Authority,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = await readRequest(incoming)
  ;(bao.requests as BaoRequest[]).push(request)
  const answer = bao.answer?.(request) ?? (await answerAsOpenBao(bao, pki, request))
  if (answer === 'cut') {
    response.destroy()
    return
  }
  const { status, json } = answer
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}

async function answerAsOpenBao(
  bao: FakeOpenBao,
  pki: Authority,
  { path, token, fields }: BaoRequest,
): Promise<{ readonly status: number; readonly json: object }> {
  if (path.endsWith('/login')) {
    const given = `s.${randomUUID()}`
    bao.tokens.add(given)
    return { status: 200, json: { auth: { client_token: given, lease_duration: 1200 } } }
  }
  if (token === undefined || !bao.tokens.has(token)) {
    return { status: 403, json: { errors: ['permission denied'] } }
  }
  if (path.endsWith('/revoke')) return { status: 200, json: { data: { revocation_time: 1 } } }
  return { status: 200, json: { data: await issue(bao, pki, fields) } }
}

async function issue(
  { areNamesOfCsr }: FakeOpenBao,
  { issuer, rootPem }: Authority,
  fields: BaoRequest['fields'],
): Promise<object> {
  const csr = parseCsrPem(fields['csr'] ?? '')
  if (csr === undefined) throw new Error('the client sent something that is not a CSR')
  const commonName = fields['common_name'] ?? ''
  const named = `${fields['alt_names']},${fields['ip_sans']}`
    .split(',')
    .filter((each) => each !== '')
  const now = Date.now()
  const certificate = await issuer.issueLeaf({
    publicKeySpki: csr.publicKeySpki,
    commonName,
    sans: areNamesOfCsr ? [commonName] : named,
    notBefore: new Date(now - 30_000),
    notAfter: new Date(now + LIFE_MS / 2),
  })
  return { certificate, ca_chain: [issuer.certificatePem, rootPem] }
}

async function readRequest(incoming: IncomingMessage): Promise<BaoRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const { 'x-vault-token': token, 'x-vault-namespace': namespace } = incoming.headers
  return {
    path: incoming.url ?? '',
    token: token?.toString(),
    namespace: namespace?.toString(),
    fields: text === '' ? {} : (JSON.parse(text) as BaoRequest['fields']),
  }
}
