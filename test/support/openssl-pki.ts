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
  /** Another certificate of the same key. */
  renew(
    of: Pick<MadeCertificate, 'keyPath' | 'keyPem'>,
    commonName: string,
    options?: Omit<CertificateOptions, 'key'>,
  ): MadeCertificate
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
  const certify: OpensslPki['renew'] = (
    of,
    commonName,
    { issuer, extensions = [], days = 10, digest } = {},
  ) => {
    made += 1
    const { keyPath, keyPem } = of
    const certificatePath = join(directory, `${made}.pem`)
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
    return { pem: readFileSync(certificatePath, 'utf8'), keyPem, certificatePath, keyPath }
  }
  return {
    directory,
    renew: certify,
    make: (commonName, { key = EC, ...options } = {}) => {
      const keyPath = join(directory, `${made + 1}.key`)
      openssl('genpkey', ...key, '-out', keyPath)
      return certify({ keyPath, keyPem: readFileSync(keyPath, 'utf8') }, commonName, options)
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

function openssl(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`)
}
