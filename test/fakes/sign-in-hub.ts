// A hub that lets people sign in, as far as `svc login` sees it: three routes without credentials, and the token that asks. It can answer
// anything, and has down what it was asked.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import type { FakeCa } from './hub-certificates.ts'

export type SignInRoute = 'provider' | 'start' | 'finish' | 'own' | 'revoke'

export interface Asked {
  readonly route: SignInRoute | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
}

/** What a route answers in place of what is right; `undefined` for a connection that breaks. */
export type Answer = readonly [status: number, body: unknown] | undefined

export interface SignInHub extends AsyncDisposable {
  readonly url: string
  readonly rootPem: string
  readonly asked: Asked[]
  readonly answers: Map<SignInRoute, Answer>
  /** Tokens that the hub takes. */
  readonly good: Set<string>
  /** Of the next replies. */
  clockAheadMs: number
  expiresAt: Date
}

export interface SignInHubOptions {
  readonly ca: FakeCa
  /** Of every sign-in; a new one for each without it. */
  readonly state?: string
}

const ROUTES: Readonly<Record<string, SignInRoute>> = {
  'GET /v1/admin/oidc': 'provider',
  'POST /v1/admin/oidc/start': 'start',
  'POST /v1/admin/oidc/finish': 'finish',
  'GET /v1/admin/admin-tokens/own': 'own',
  'POST /v1/admin/admin-tokens/revoke-own': 'revoke',
}
const UNKNOWN: Answer = [401, { error: 'admin_token_invalid', message: 'no good admin token' }]
const NAME = 'alice@example.org'

export async function startSignInHub({ ca, state }: SignInHubOptions): Promise<SignInHub> {
  const { certificatePem, keyPem } = await ca.issueServer('127.0.0.1')
  const keys = new Map<string, unknown>()
  const token = (made: Date) => ({
    id: '9d1c0c5e9b7d2417',
    name: NAME,
    role: 'operator',
    created_at: made.toISOString(),
    expires_at: hub.expiresAt.toISOString(),
    last_used_at: null,
    revoked_at: null,
    only: null,
    issuer: 'https://sso.example.org',
    subject: 'id-alice',
  })
  const rightAnswer = (route: SignInRoute | undefined, { body, headers }: Asked): Answer => {
    const bearer = /^Bearer (svca_\S{43})$/.exec(headers.authorization ?? '')?.[1] ?? ''
    switch (route) {
      case 'provider':
        return [200, { name: 'Example SSO', issuer: 'https://sso.example.org', console: true }]
      case 'start': {
        const begun = state ?? randomBytes(16).toString('base64url')
        keys.set(begun, body['key'])
        const query = new URLSearchParams({
          client_id: 'cartorio',
          redirect_uri: `http://127.0.0.1:${String(body['port'])}/callback`,
          response_type: 'code',
          state: begun,
        })
        const url = `https://sso.example.org/authorize?${query.toString()}`
        return [200, { url, expires_at: hub.expiresAt.toISOString() }]
      }
      case 'finish': {
        const key = createHash('sha256').update(String(body['secret'])).digest('base64url')
        if (keys.get(String(body['state'])) !== key || body['code'] !== 'good-code') {
          return [401, { error: 'sign_in_state_invalid', message: 'no such sign-in' }]
        }
        const made = `svca_${randomBytes(32).toString('base64url')}`
        hub.good.add(made)
        const { name, role, only, expires_at } = token(new Date())
        return [200, { token: made, name, role, only, expires_at }]
      }
      case 'own':
        return hub.good.has(bearer) ? [200, token(new Date())] : UNKNOWN
      case 'revoke':
        return hub.good.delete(bearer) ? [200, token(new Date())] : UNKNOWN
      default:
        return UNKNOWN
    }
  }
  const answerRequest = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const { method = '', url = '', headers } = request
    const content = await readText(request)
    const body = (content === '' ? {} : JSON.parse(content)) as Asked['body']
    const asked = { route: ROUTES[`${method} ${url}`], headers, body }
    hub.asked.push(asked)
    const { route } = asked
    const right = rightAnswer(route, asked)
    const answer = route !== undefined && hub.answers.has(route) ? hub.answers.get(route) : right
    if (answer === undefined) return void request.socket.destroy()
    const [status, reply] = answer
    response.writeHead(status, {
      'content-type': 'application/json',
      date: new Date(Date.now() + hub.clockAheadMs).toUTCString(),
      'x-request-id': 'r',
    })
    response.end(typeof reply === 'string' ? reply : JSON.stringify(reply))
  }
  const server = createServer({ key: keyPem, cert: certificatePem }, (request, response) => {
    answerRequest(request, response).catch(() => request.socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const hub: SignInHub = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rootPem: ca.rootPem,
    asked: [],
    answers: new Map(),
    good: new Set(),
    clockAheadMs: 0,
    expiresAt: new Date(Date.now() + 12 * 3_600_000),
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return hub
}
