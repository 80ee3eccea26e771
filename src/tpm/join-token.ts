// What a host that has a TPM sends in the place of a token: what its TPM found in a challenge, and a quote over that and over the
// request for a certificate. docs/protocol.md JNR-40.

import { hash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { parseJson } from '../platform/parse-json.ts'

const PREFIX = 'svcp.tpm.'
const FORM = /^svcp\.tpm\.[A-Za-z0-9_-]+$/
const DOMAIN = 'cartorio tpm v1'

const base64 = (maxLength: number) =>
  Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$', minLength: 1, maxLength })

const TokenBody = Type.Object({
  /** SHA-256 of the EK. */
  ek: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** TPM2B_PUBLIC. */
  ak: base64(512),
  /** Of the challenge. */
  secret: base64(44),
  /** When the challenge ends, in seconds since 1970. */
  until: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  /** TPMS_ATTEST, and the signature by the AK. */
  quote: base64(2048),
  signature: base64(128),
})

export interface TpmToken {
  readonly ekSha256: string
  readonly ak: Buffer
  readonly secret: Buffer
  readonly untilSeconds: number
  readonly quote: Buffer
  readonly signature: Buffer
}

/** What no other token looks like. */
export function isTpmToken(text: string): boolean {
  return FORM.test(text)
}

/** Undefined for what has another form. */
export function parseTpmToken(text: string): TpmToken | undefined {
  if (!isTpmToken(text)) return undefined
  const body = parseJson(Buffer.from(text.slice(PREFIX.length), 'base64url').toString('utf8'))
  if (!Check(TokenBody, body)) return undefined
  const { ek: ekSha256, until: untilSeconds } = body
  const [ak, secret] = [decode(body.ak), decode(body.secret)]
  const [quote, signature] = [decode(body.quote), decode(body.signature)]
  return { ekSha256, ak, secret, untilSeconds, quote, signature }
}

export function writeTpmToken(token: TpmToken): string {
  const { ekSha256: ek, untilSeconds: until } = token
  const body: Static<typeof TokenBody> = {
    ek,
    ak: token.ak.toString('base64'),
    secret: token.secret.toString('base64'),
    until,
    quote: token.quote.toString('base64'),
    signature: token.signature.toString('base64'),
  }
  return `${PREFIX}${Buffer.from(JSON.stringify(body)).toString('base64url')}`
}

/** What the quote has to be over; `csrSha256` is of the DER, hex. The secret is of one hub, rule, EK, AK, name and role, so the quote is too. */
export function quotedDigest(secret: Buffer, csrSha256: string): Buffer {
  const text = [DOMAIN, secret.toString('hex'), csrSha256].join('\n')
  return hash('sha256', text, 'buffer')
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64')
}
