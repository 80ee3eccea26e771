// What the CA's replies mean.

import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import type { CaReply } from './ca-connection.ts'
import { CaError, type CaSetting } from './certificate-authority.ts'

const EXCERPT_CHARACTERS_MAX = 200
const CHAIN_LENGTH_MAX = 10
/** Those of OpenBao and Vault: hvs. and so on, in earlier versions s. and b. */
const VAULT_TOKEN = /\b(?:hv)?[sbr]\.[A-Za-z0-9_-]{20,}/g
/** Begins where a word begins: from each letter of an endless word it would take minutes. */
const JSON_WEB_TOKEN = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g

/** A 4xx is the CA's no; anything else that is not a success is a CA that cannot answer. */
export function failureOfReply(
  reply: CaReply,
  task: string,
  settingOf: (reply: CaReply) => CaSetting | undefined = settingOfStepCa,
): CaError {
  const { status } = reply
  const fault = `${task} (${status}): ${excerptOf(reply)}`
  const isRefusal = status >= 400 && status < 500 && status !== 429
  return isRefusal
    ? new CaError('refused', `the CA refused to ${fault}`, { status, variable: settingOf(reply) })
    : new CaError('unreachable', `the CA could not ${fault}`, { status })
}

/** Nobody but the hub makes the token that a CA does not accept, or asks for a path that no CA has. */
function settingOfStepCa({ status }: CaReply): CaSetting | undefined {
  if (status === 401) return 'SVC_CA_PROVISIONER_KEY'
  return status === 404 || status === 405 ? 'SVC_CA_URL' : undefined
}

/** Leaf first; empty when the body of a success holds no certificates. */
export function parseSignedChain(body: string): readonly Certificate[] {
  try {
    const { crt, ca, certChain } = JSON.parse(body) as Readonly<Record<string, unknown>>
    return parseChain(Array.isArray(certChain) && certChain.length > 0 ? certChain : [crt, ca])
  } catch {
    // Not JSON, or a certificate that does not parse: there is no chain in it.
    return []
  }
}

/** PEM texts, leaf first; empty when there are too many. Throws what a certificate that does not parse throws. */
export function parseChain(chain: readonly unknown[]): readonly Certificate[] {
  if (chain.length > CHAIN_LENGTH_MAX) return []
  const [leaf, ...issuers] = chain
  return [...parsePem(leaf), ...issuers.flatMap(parseIssuerPem)]
}

function parsePem(pem: unknown): readonly Certificate[] {
  return typeof pem === 'string' ? parseCertificatesPem(pem) : []
}

/** A CA answers with the same few issuers each time. */
const issuersByPem = new Map<unknown, readonly Certificate[]>()
const ISSUERS_MAX = 16

function parseIssuerPem(pem: unknown): readonly Certificate[] {
  const known = issuersByPem.get(pem)
  if (known !== undefined) return known
  const parsed = parsePem(pem)
  if (issuersByPem.size >= ISSUERS_MAX) issuersByPem.clear()
  issuersByPem.set(pem, parsed)
  return parsed
}

/** What the CA says about it: bounded, on one line, and without the token, should the CA repeat it. */
function excerptOf({ body }: CaReply): string {
  return withoutTokens(messageIn(body)).slice(0, EXCERPT_CHARACTERS_MAX)
}

/** On one line; it is cut afterwards, since the half of a token does not look like one. */
export function withoutTokens(text: string): string {
  return (
    text
      .replaceAll(JSON_WEB_TOKEN, '[redacted]')
      .replaceAll(VAULT_TOKEN, '[redacted]')
      // oxlint-disable-next-line no-control-regex -- Control characters are what must not reach a terminal.
      .replaceAll(/[\u0000-\u001F\u007F-\u009F]+/g, ' ')
  )
}

function messageIn(body: string): string {
  try {
    const { message, errors, detail } = JSON.parse(body) as Readonly<Record<string, unknown>>
    if (typeof detail === 'string') return detail
    if (Array.isArray(errors) && errors.length > 0) return errors.join('; ')
    return typeof message === 'string' ? message : body
  } catch {
    // A proxy in front of the CA answers in HTML; that is worth showing too.
    return body
  }
}
