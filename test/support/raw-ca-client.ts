// Requests to a CA as anyone could make them: tokens and CSRs with whatever is wrong in them.

import 'reflect-metadata'
import { createHash, createPrivateKey, randomUUID, webcrypto } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509'
import { SignJWT } from 'jose'
import { Agent, request } from 'undici'
import type { RunningCa } from './running-ca.ts'

export interface RawReply {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

export interface RawCaClient extends AsyncDisposable {
  get(path: string): Promise<RawReply>
  post(path: string, body: unknown): Promise<RawReply>
  /** A good token for the CN `web-1`, apart from what is given; an undefined claim is left out. */
  token(claims?: Readonly<Record<string, unknown>>, header?: TokenHeader): Promise<string>
}

export interface TokenHeader {
  readonly kid?: string
  /** Another key than the provisioner's. */
  readonly jwk?: webcrypto.JsonWebKey
}

export interface CsrOptions {
  readonly commonName?: string
  readonly sans?: readonly string[]
  readonly algorithm?: KeyAlgorithm
}

type KeyAlgorithm = 'P-256' | 'P-384' | 'Ed25519' | 'RSA-2048' | 'RSA-1024'

const ALGORITHMS = {
  'P-256': { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  'P-384': { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  Ed25519: { name: 'Ed25519' },
  'RSA-2048': rsa(2048),
  'RSA-1024': rsa(1024),
} as const

export async function openRawCaClient(ca: RunningCa): Promise<RawCaClient> {
  const dispatcher = new Agent({
    connect: { ca: await readFile(ca.rootPath, 'utf8') },
    allowH2: false,
  })
  const send = async (method: 'GET' | 'POST', path: string, body?: string): Promise<RawReply> => {
    const reply = await request(`${ca.url}${path}`, { method, dispatcher, body: body ?? null })
    const text = await reply.body.text()
    return { status: reply.statusCode, json: parseJson(text) }
  }
  return {
    get: (path) => send('GET', path),
    post: (path, body) =>
      send('POST', path, typeof body === 'string' ? body : JSON.stringify(body)),
    token: (claims = {}, header = {}) => signToken(ca, claims, header),
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}

/** A CSR with the CN `web-1` and a P-256 key, unless said otherwise. PEM. */
export async function createRawCsrPem(options: CsrOptions = {}): Promise<string> {
  const { commonName = 'web-1', sans = [], algorithm = 'P-256' } = options
  const keys = (await webcrypto.subtle.generateKey(ALGORITHMS[algorithm], true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair
  const names = sans.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }) as const)
  const csr = await Pkcs10CertificateRequestGenerator.create({
    name: commonName === '' ? [] : [{ CN: [commonName] }],
    keys,
    signingAlgorithm: ALGORITHMS[algorithm],
    extensions: names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)],
  })
  return csr.toString('pem')
}

/** The `cnf` claim that binds a token to a CSR. */
export function confirmationOf(csrPem: string): Readonly<Record<string, string>> {
  const der = Buffer.from(csrPem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  return { 'x5rt#S256': createHash('sha256').update(der).digest('base64url') }
}

/** A CSR whose last byte, part of its signature, is another. */
export function breakSignature(csrPem: string): string {
  const der = Buffer.from(csrPem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  der.writeUInt8(der.readUInt8(der.length - 1) ^ 1, der.length - 1)
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
}

export function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds
}

function signToken(
  ca: RunningCa,
  claims: Readonly<Record<string, unknown>>,
  header: TokenHeader,
): Promise<string> {
  const jwk = header.jwk ?? (JSON.parse(ca.provisionerKey) as webcrypto.JsonWebKey)
  const payload = {
    iss: ca.provisionerName,
    aud: `${ca.url}/1.0/sign`,
    sub: 'web-1',
    nbf: secondsFromNow(-60),
    exp: secondsFromNow(300),
    jti: randomUUID(),
    ...claims,
  }
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', kid: header.kid ?? ca.provisionerKid, typ: 'JWT' })
    .sign(createPrivateKey({ key: { ...jwk }, format: 'jwk' }))
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    // Not every answer is JSON; those that must be are asserted on.
    return { text }
  }
}

function rsa(modulusLength: number): webcrypto.RsaHashedKeyGenParams {
  return {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  }
}
