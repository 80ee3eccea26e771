// CSRs made by openssl, good and bad.

import { runTool } from './processes.ts'

export interface CsrSample {
  readonly name: string
  readonly pem: string
}

const EC = (curve: string): string[] => ['ec', '-pkeyopt', `ec_paramgen_curve:${curve}`]

/** A CSR for this CN, or with none when it is empty: `key` as openssl's -newkey names it, `san` as its subjectAltName extension. */
export async function createOpensslCsr(
  commonName: string,
  key: readonly string[] = EC('P-256'),
  san?: string,
): Promise<string> {
  const extension = san === undefined ? [] : ['-addext', `subjectAltName=${san}`]
  const subject = commonName === '' ? '/O=nobody' : `/CN=${commonName}`
  const options = ['-new', '-nodes', '-keyout', '/dev/null', '-subj', subject]
  return runTool('openssl', ['req', ...options, '-newkey', ...key, ...extension])
}

/** Every kind of key that is certified. */
export async function createAcceptableCsrs(commonName: string): Promise<CsrSample[]> {
  const keys: Readonly<Record<string, readonly string[]>> = {
    'P-256': EC('P-256'),
    'P-384': EC('P-384'),
    Ed25519: ['ed25519'],
    'RSA 2048': ['rsa:2048'],
    'RSA 3072': ['rsa:3072'],
  }
  return samplesOf(keys, commonName)
}

/** What no hub may take for a CSR. */
export async function createUnacceptableCsrs(commonName: string): Promise<CsrSample[]> {
  const good = await createOpensslCsr(commonName)
  const certificate = good.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')
  return [
    { name: 'no PEM at all', pem: 'not a CSR' },
    { name: 'PEM of random bytes', pem: toPem(Buffer.alloc(200, 7)) },
    { name: 'PEM under another label', pem: certificate },
    { name: 'a cut one', pem: toPem(fromPem(good).subarray(0, -20)) },
    { name: 'a wrong self-signature', pem: toPem(withLastByteFlipped(fromPem(good))) },
    ...(await samplesOf({ 'RSA 1024': ['rsa:1024'], 'P-521': EC('P-521') }, commonName)),
  ]
}

async function samplesOf(
  keys: Readonly<Record<string, readonly string[]>>,
  commonName: string,
): Promise<CsrSample[]> {
  const samples = Object.entries(keys).map(async ([name, key]) => ({
    name,
    pem: await createOpensslCsr(commonName, key),
  }))
  return Promise.all(samples)
}

function fromPem(pem: string): Buffer {
  return Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`
}

/** The last byte is part of the signature. */
function withLastByteFlipped(der: Buffer): Buffer {
  const copy = Buffer.from(der)
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1
  return copy
}
