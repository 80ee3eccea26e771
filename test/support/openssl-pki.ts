// CAs and certificates that openssl makes, also bad ones.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface MadeCertificate {
  readonly pem: string
  readonly keyPem: string
  readonly certificatePath: string
  readonly keyPath: string
}

export interface CertificateOptions {
  /** Arguments of `openssl genpkey`. */
  readonly key?: readonly string[]
  /** Signs itself without one. */
  readonly issuer?: MadeCertificate | undefined
  /** As in openssl's configuration. */
  readonly extensions?: readonly string[]
  readonly days?: number
  readonly digest?: string
}

export interface OpensslPki extends Disposable {
  readonly directory: string
  make(commonName: string, options?: CertificateOptions): MadeCertificate
}

export const CA_EXTENSIONS = [
  'basicConstraints=critical,CA:TRUE',
  'keyUsage=critical,keyCertSign,cRLSign',
] as const

export function hostExtensions(...names: readonly string[]): string[] {
  return [
    'basicConstraints=CA:FALSE',
    'keyUsage=critical,digitalSignature',
    'extendedKeyUsage=serverAuth,clientAuth',
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
  ]
}

const EC = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']

export function createOpensslPki(): OpensslPki {
  const directory = mkdtempSync(join(tmpdir(), 'pki-'))
  // Nothing of the machine's own configuration.
  const config = join(directory, 'openssl.cnf')
  writeFileSync(config, '[req]\ndistinguished_name=dn\n[dn]\n')
  let made = 0
  return {
    directory,
    make: (commonName, { key = EC, issuer, extensions = [], days = 10, digest } = {}) => {
      made += 1
      const keyPath = join(directory, `${made}.key`)
      const certificatePath = join(directory, `${made}.pem`)
      openssl('genpkey', ...key, '-out', keyPath)
      openssl(
        'req',
        '-x509',
        '-config',
        config,
        '-key',
        keyPath,
        '-subj',
        `/CN=${commonName}`,
        '-days',
        String(days),
        '-out',
        certificatePath,
        ...(digest ? [`-${digest}`] : []),
        ...(issuer ? ['-CA', issuer.certificatePath, '-CAkey', issuer.keyPath] : []),
        ...extensions.flatMap((each) => ['-addext', each]),
      )
      const pem = readFileSync(certificatePath, 'utf8')
      return { pem, keyPem: readFileSync(keyPath, 'utf8'), certificatePath, keyPath }
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

function openssl(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`)
}
