import { readFile } from 'node:fs/promises'
import { getCACertificates, rootCertificates } from 'node:tls'
import { errnoCode, SvcError } from '../../platform/errors.ts'

/** The system's roots, and those of SVC_WEBHOOK_CA_PATH. */
export async function readTrustedRoots(path: string | undefined): Promise<readonly string[]> {
  const system = getCACertificates('system')
  const known = system.length > 0 ? system : rootCertificates
  return path === undefined ? known : [...known, await readRoots(path)]
}

async function readRoots(path: string): Promise<string> {
  const failure = (why: string, cause?: unknown): SvcError =>
    new SvcError('webhook_ca_unreadable', `read the webhooks’ CA from ${path}: ${why}`, {
      hint: 'SVC_WEBHOOK_CA_PATH names a PEM file of root certificates',
      cause,
    })
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    const code = errnoCode(error) ?? 'unreadable'
    throw failure(code === 'ENOENT' ? 'not found' : code, error)
  })
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw failure('no PEM certificate in it')
  return pem
}
