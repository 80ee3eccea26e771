// Files of root certificates: the file of SVC_CA_ROOT_CA_PATH, with one root, or several while one replaces another, and
// the files of SVC_CA_TLS_ROOT_PATH, SVC_WEBHOOK_CA_PATH and SVC_OIDC_CA_PATH.

import { readFile } from 'node:fs/promises'
import { errnoCode, SvcError } from '../platform/errors.ts'
import { systemRoots } from '../platform/system-roots.ts'
import { type Certificate, parseCertificatesPem } from '../pki/certificates.ts'

interface RootFile {
  readonly code: string
  readonly what: string
  readonly hint: string
}

const OF_THE_CA: RootFile = {
  code: 'ca_root_unreadable',
  what: 'root CA',
  hint: 'SVC_CA_ROOT_CA_PATH names the PEM file of the CA’s root certificate',
}
const OF_WEBHOOKS: RootFile = {
  code: 'webhook_ca_unreadable',
  what: 'the webhooks’ CA',
  hint: 'SVC_WEBHOOK_CA_PATH names a PEM file of root certificates',
}

const OF_OPENID: RootFile = {
  code: 'openid_ca_unreadable',
  what: 'the OpenID provider’s CA',
  hint: 'SVC_OIDC_CA_PATH names a PEM file of root certificates',
}

const OF_THE_SERVER: RootFile = {
  code: 'ca_root_unreadable',
  what: 'the roots of the CA’s server',
  hint: 'SVC_CA_TLS_ROOT_PATH and SVC_ACME_TLS_ROOT_PATH name PEM files of root certificates',
}

/** By which the hub knows the server of the CA, where that has its certificate from elsewhere. docs/protocol.md CAX-22. */
export function readTlsRoots(path: string): Promise<readonly Certificate[]> {
  return readRoots(path, OF_THE_SERVER)
}

/** Throws SvcError with the message of docs/protocol.md BOOT-13. */
export function readRootFile(path: string): Promise<readonly Certificate[]> {
  return readRoots(path, OF_THE_CA)
}

/**
 * The system's roots, and the roots of SVC_WEBHOOK_CA_PATH, PEM. docs/protocol.md WHK-14. That file is read now; those of the system when
 * they are asked for first, since to read them takes a twentieth of a start, and most hubs have nobody to tell.
 */
export async function readWebhookRoots(path: string | undefined): Promise<() => readonly string[]> {
  const own = path === undefined ? [] : await readRoots(path, OF_WEBHOOKS)
  let known: readonly string[] | undefined
  return () => (known ??= [...systemRoots(), ...own.map(({ pem }) => pem)])
}

/** By which alone the OpenID provider is known; without a file the system's. docs/protocol.md OID-9. */
export async function readOpenidRoots(path: string | undefined): Promise<() => readonly string[]> {
  if (path === undefined) return systemRoots
  const own = (await readRoots(path, OF_OPENID)).map(({ pem }) => pem)
  return () => own
}

async function readRoots(
  path: string,
  { code, what, hint }: RootFile,
): Promise<readonly Certificate[]> {
  const failure = (why: string, cause?: unknown): SvcError =>
    new SvcError(code, `read ${what} from ${path}: ${why}`, { hint, cause })
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    const errno = errnoCode(error) ?? 'unreadable'
    throw failure(errno === 'ENOENT' ? 'not found' : errno, error)
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
