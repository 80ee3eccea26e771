// What a server shows to a client that trusts the root alone, asked with openssl.

import { X509Certificate } from 'node:crypto'
import { runTool, waitUntil } from '../../support/processes.ts'
import { SITE } from './service-host.ts'

export interface ServedCertificate {
  readonly serial: string
  /** As OpenSSL writes them: `DNS:site.test, IP Address:127.0.0.1`. */
  readonly names: string
  readonly keyType: string | undefined
}

export interface Question {
  readonly port: number
  readonly rootPath: string
  readonly starttls?: 'postgres'
}

const ANSWERS_IN_ROW = 4

/** An error when the chain does not lead to the root, or the certificate is for another name. */
async function askServed(question: Question): Promise<ServedCertificate> {
  const trust = ['-CAfile', question.rootPath, '-verify_return_error', '-verify_hostname', SITE]
  const transcript = await shakeHands(question, trust)
  if (!transcript.includes('Verify return code: 0 (ok)')) {
    throw new Error(`the server is not to be trusted:\n${transcript}`)
  }
  const { serialNumber, subjectAltName = '', publicKey } = leafOf(transcript)
  const keyType = publicKey.asymmetricKeyType
  return { serial: serialNumber.toLowerCase(), names: subjectAltName, keyType }
}

/**
 * Waits until this serial is what every answer shows: the workers that a server has told to end may answer a little
 * longer than the new ones do.
 */
export async function waitForServed(
  question: Question,
  serial: unknown,
): Promise<ServedCertificate> {
  let inRow = 0
  return waitUntil(`serial ${String(serial)} to be served`, async () => {
    const served = await askServed(question).catch(() => undefined)
    inRow = served?.serial === serial ? inRow + 1 : 0
    return inRow >= ANSWERS_IN_ROW ? served : undefined
  })
}

/** Of whatever certificate is shown, trusted or not. */
export async function askServedSerial(question: Omit<Question, 'rootPath'>): Promise<string> {
  return leafOf(await shakeHands(question)).serialNumber.toLowerCase()
}

function shakeHands(
  { port, starttls }: Omit<Question, 'rootPath'>,
  options: readonly string[] = [],
): Promise<string> {
  const asked = starttls === undefined ? [] : ['-starttls', starttls]
  const address = ['-connect', `127.0.0.1:${port}`, '-servername', SITE]
  return runTool('openssl', ['s_client', ...address, ...asked, ...options], '')
}

function leafOf(transcript: string): X509Certificate {
  const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(transcript)
  if (pem === null) throw new Error(`the server shows no certificate:\n${transcript}`)
  return new X509Certificate(pem[0])
}
