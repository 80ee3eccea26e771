// The file of SVC_CA_ROOT_CA_PATH: one root, or several while one replaces another.

import { readFile } from 'node:fs/promises'
import { errnoCode, SvcError } from '../platform/errors.ts'
import { type Certificate, parseCertificatesPem } from '../pki/certificates.ts'

/** Throws SvcError with the message of docs/protocol.md BOOT-13. */
export async function readRootFile(path: string): Promise<readonly Certificate[]> {
  const failure = (why: string, cause?: unknown): SvcError =>
    new SvcError('ca_root_unreadable', `read root CA from ${path}: ${why}`, {
      hint: 'SVC_CA_ROOT_CA_PATH names the PEM file of the CA’s root certificate',
      cause,
    })
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    const code = errnoCode(error) ?? 'unreadable'
    throw failure(code === 'ENOENT' ? 'not found' : code, error)
  })
  let roots: readonly Certificate[]
  try {
    roots = parseCertificatesPem(pem)
  } catch (error) {
    throw failure('a certificate in it does not parse', error)
  }
  if (roots.length === 0) throw failure('no PEM certificate in it')
  return roots
}
