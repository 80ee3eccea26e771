// An issuer of workload tokens on this machine: discovery and keys over http, as an OpenID provider has them, and tokens signed by
// openssl. It misbehaves when a test tells it to.

import { spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
}

export interface FakeIssuer extends AsyncDisposable {
  readonly url: string
  /** Its keys, which it publishes. */
  keys: SigningKey[]
  /** Paths that were asked for, in order. */
  readonly asked: string[]
  /** In place of an answer. */
  answer: ((path: string) => { status?: number; body: string } | undefined) | undefined
}

export function makeKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { kid: randomUUID(), privateKey }
}

export async function startIssuer(): Promise<FakeIssuer> {
  const server: Server = createServer((request, response) => {
    const path = request.url ?? ''
    issuer.asked.push(path)
    const { status = 200, body } = issuer.answer?.(path) ?? { body: standardAnswer(issuer, path) }
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer: FakeIssuer = {
    url: `http://127.0.0.1:${port}`,
    keys: [makeKey()],
    asked: [],
    answer: undefined,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return issuer
}

function standardAnswer({ url, keys }: FakeIssuer, path: string): string {
  return path === '/keys'
    ? JSON.stringify(keySetOf(keys))
    : JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` })
}

export function keySetOf(keys: readonly SigningKey[]): { keys: object[] } {
  return {
    keys: keys.map(({ kid, privateKey }) => {
      const jwk = createPublicKey(privateKey).export({ format: 'jwk' })
      return { ...jwk, kid, use: 'sig', alg: 'RS256' }
    }),
  }
}

export interface TokenParts {
  readonly key: SigningKey
  readonly claims: object
  readonly header?: object
}

/** RS256, by openssl. */
export function signToken({ key, claims, header }: TokenParts): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${encode({ alg: 'RS256', kid: key.kid, ...header })}.${encode(claims)}`
  const directory = mkdtempSync(join(tmpdir(), 'issuer-'))
  try {
    const file = join(directory, 'key.pem')
    writeFileSync(file, key.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    const { stdout, status } = spawnSync('openssl', ['dgst', '-sha256', '-sign', file], { input })
    if (status !== 0) throw new Error('openssl does not sign')
    return `${input}.${stdout.toString('base64url')}`
  } finally {
    rmSync(directory, { recursive: true })
  }
}
