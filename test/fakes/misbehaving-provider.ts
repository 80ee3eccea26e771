// An OpenID provider whose every answer a test can spoil: discovery, keys, tokens and userinfo over TLS, without a page to sign in at,
// since the hub sees nothing of that page.

import { once } from 'node:events'
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createFakeCa } from './hub-certificates.ts'

export interface MisbehavingProvider extends AsyncDisposable {
  readonly issuer: string
  readonly rootPem: string
  /** Paths that were asked for, in order. */
  readonly asked: string[]
  /** Back to how a provider has to be. */
  behave(): void
  /** In place of the claims that the hub expects. */
  claims: Readonly<Record<string, unknown>>
  /** In place of the discovery document's fields. */
  metadata: Readonly<Record<string, unknown>>
  /** In place of the whole ID token, made of the right one. */
  spoilToken: ((token: string) => string) | undefined
  /** In place of an answer; true when it answers. */
  answer: ((path: string, response: ServerResponse) => boolean) | undefined
  /** The key that signs, which the keys of the provider do not have. */
  replaceKey(isPublished: boolean): Promise<void>
  /** What it has to know of a sign-in, from the URL that the hub made. */
  begin(url: string): void
}

export async function startMisbehavingProvider(clientId: string): Promise<MisbehavingProvider> {
  const ca = await createFakeCa()
  const { certificatePem: cert, keyPem: key } = await ca.issueServer('localhost')
  const server = createServer({ cert, key })
  let nonce = ''
  let signing = await makeKey('first')
  let published: object[] = [signing.jwk]

  const idToken = async (): Promise<string> => {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: provider.issuer,
      sub: 'id-alice',
      aud: clientId,
      iat: now,
      exp: now + 300,
      nonce,
      email: 'alice@example.org',
      groups: ['staff'],
      ...provider.claims,
    }
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: signing.kid })
      .sign(signing.privateKey)
    return provider.spoilToken?.(token) ?? token
  }
  const answerTo = async (path: string): Promise<object> => {
    const { issuer, metadata } = provider
    if (path === '/.well-known/openid-configuration') {
      return {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ['RS256'],
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        ...metadata,
      }
    }
    if (path === '/keys') return { keys: published }
    if (path === '/userinfo') return { sub: 'id-alice', ...provider.claims }
    const id_token = await idToken()
    return { access_token: 'an access token', token_type: 'Bearer', expires_in: 300, id_token }
  }
  server.on('request', (request, response) => {
    const path = request.url ?? ''
    provider.asked.push(path)
    if (provider.answer?.(path, response) === true) return
    void answerTo(path).then((body) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider: MisbehavingProvider = {
    issuer: `https://localhost:${(server.address() as AddressInfo).port}`,
    rootPem: ca.rootPem,
    asked: [],
    claims: {},
    metadata: {},
    spoilToken: undefined,
    answer: undefined,
    behave: () => {
      provider.claims = {}
      provider.metadata = {}
      provider.spoilToken = undefined
      provider.answer = undefined
    },
    replaceKey: async (isPublished) => {
      signing = await makeKey(`key ${provider.asked.length}`)
      if (isPublished) published = [signing.jwk]
    },
    begin: (url) => {
      nonce = new URL(url).searchParams.get('nonce') ?? ''
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return provider
}

interface MadeKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly jwk: object
}

async function makeKey(kid: string): Promise<MadeKey> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  return {
    kid,
    privateKey,
    jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' },
  }
}
