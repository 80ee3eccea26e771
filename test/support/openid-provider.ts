// A real OpenID provider, oidc-provider, over TLS with a certificate of its own CA. Whoever comes is asked who it is by a page with a
// button for each account; `visit` does what a browser would.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { type Configuration, Provider } from 'oidc-provider'
import { createFakeCa } from '../fakes/hub-certificates.ts'
import { send } from './wire-client.ts'

export type Claims = Readonly<Record<string, unknown>>

export interface RunningProvider extends AsyncDisposable {
  readonly issuer: string
  readonly rootPem: string
  readonly clientId: string
  readonly clientSecret: string
  /** By their subjects; a test changes them as it likes. */
  readonly accounts: Record<string, Claims>
  /** The person of that subject signs in: where the provider sends the browser back to. */
  visit(url: string, subject: string): Promise<URL>
}

export interface ProviderOptions {
  readonly redirectUris: readonly string[]
  /** Whether claims are in the ID token, as most products have them, or in the userinfo alone. */
  readonly areClaimsInIdToken?: boolean
  readonly isPublicClient?: boolean
  /** `localhost` unless it is to be another site than a hub there. */
  readonly host?: 'localhost' | '127.0.0.1'
}

const CLIENT_ID = 'cartorio'
const CLIENT_SECRET = 'a secret of the hub, with: + and %'

export async function startOpenidProvider(options: ProviderOptions): Promise<RunningProvider> {
  const { host = 'localhost' } = options
  const ca = await createFakeCa()
  const { certificatePem: cert, keyPem: key } = await ca.issueServer(host)
  const server = createServer({ cert, key })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `https://${host}:${(server.address() as AddressInfo).port}`
  const accounts: Record<string, Claims> = {}
  const provider = new Provider(issuer, await configurationOf(options, accounts))
  provider.proxy = false
  const callback = provider.callback()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/interaction/') === true) {
      void interact(provider, accounts, request, response)
    } else void callback(request, response)
  })
  return {
    issuer,
    rootPem: ca.rootPem,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    accounts,
    visit: (url, subject) => visit(url, subject, issuer, ca.rootPem),
    [Symbol.asyncDispose]: () => close(server),
  }
}

async function configurationOf(
  { redirectUris, areClaimsInIdToken = true, isPublicClient = false }: ProviderOptions,
  accounts: Record<string, Claims>,
): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'made', use: 'sig', alg: 'RS256' }
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        ...(isPublicClient
          ? { token_endpoint_auth_method: 'none' as const }
          : { client_secret: CLIENT_SECRET }),
        // Only a native one may be sent back to 127.0.0.1.
        application_type: redirectUris.some((uri) => uri.startsWith('http:')) ? 'native' : 'web',
        redirect_uris: [...redirectUris],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['made for a test'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified', 'groups'],
      profile: ['preferred_username'],
    },
    conformIdTokenClaims: !areClaimsInIdToken,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: async () => ({ sub: subject, ...accounts[subject] }),
    }),
    loadExistingGrant: async ({ oidc }) => {
      const { client, session } = oidc
      const grant = new oidc.provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope('openid profile email groups')
      await grant.save()
      return grant
    },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  }
}

/** `/interaction/UID` asks who it is, `/interaction/UID/as/SUBJECT` is the answer, and `…/cancel` is none. */
async function interact(
  provider: Provider,
  accounts: Record<string, Claims>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, , uid = '', verb, subject = ''] = (request.url ?? '').split('/')
  if (verb === 'as') {
    const login = { accountId: decodeURIComponent(subject), remember: false }
    await provider.interactionFinished(request, response, { login, consent: {} })
  } else if (verb === 'cancel') {
    await provider.interactionFinished(request, response, { error: 'access_denied' })
  } else {
    const links = Object.keys(accounts)
      .map(
        (each) => `<p><a href="/interaction/${uid}/as/${encodeURIComponent(each)}">${each}</a></p>`,
      )
      .join('')
    const page = `<!doctype html><title>Provider</title><h1>Who is it?</h1>${links}<p><a href="/interaction/${uid}/cancel">Cancel</a></p>`
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
  }
}

/** Follows the provider's redirects with its cookies, until they leave it. */
async function visit(url: string, subject: string, issuer: string, ca: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let next = new URL(url)
  for (let hops = 0; hops < 10; hops += 1) {
    if (next.origin !== issuer) return next
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const target = { port: Number(next.port), tls: { ca, servername: 'localhost' } }
    const headers = { host: next.host, cookie }
    const reply = await send(target, { path: `${next.pathname}${next.search}`, headers })
    for (const each of reply.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      cookies.set(name, value)
    }
    const { location } = reply.headers
    if (location === undefined) {
      assert.match(reply.text, /Who is it\?/, `${reply.status} ${next.href}: ${reply.text}`)
      next = new URL(`${next.pathname}/as/${encodeURIComponent(subject)}`, next)
    } else next = new URL(location, next)
  }
  return assert.fail(`the provider goes on and on: ${next.href}`)
}

async function close(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
