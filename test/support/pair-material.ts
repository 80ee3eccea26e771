// A key of any type with a leaf, an intermediate and a root that openssl made.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PairMaterial } from '../../src/agent/targets/render-content.ts'
import { createCsrPem } from '../../src/pki/csr.ts'
import { generateKey, type KeyType } from '../../src/pki/keys.ts'

export async function createPairMaterial(
  type: KeyType = 'ec-p256',
  commonName = 'web-1',
): Promise<PairMaterial> {
  const key = await generateKey(type)
  const csrPem = await createCsrPem(commonName, key)
  const directory = mkdtempSync(join(tmpdir(), 'pair-material-'))
  try {
    const root = createRoot(directory)
    const intermediate = createIntermediate(directory)
    const leaf = sign(directory, csrPem, 'intermediate', `subjectAltName=DNS:${commonName}`)
    return { leafPem: leaf, chainPems: [intermediate], keyPem: key.pem, caPem: root }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const NEW_KEY = ['-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']

function createRoot(directory: string): string {
  const pem = openssl(
    ['req', '-x509', ...NEW_KEY, '-keyout', join(directory, 'root.key')],
    ['-subj', '/CN=test root', '-days', '30'],
  )
  writeFileSync(join(directory, 'root.pem'), pem)
  return pem
}

function createIntermediate(directory: string): string {
  const csrPem = openssl(
    ['req', '-new', ...NEW_KEY, '-keyout', join(directory, 'intermediate.key')],
    ['-subj', '/CN=test intermediate'],
  )
  const pem = sign(directory, csrPem, 'root', 'basicConstraints=critical,CA:TRUE')
  writeFileSync(join(directory, 'intermediate.pem'), pem)
  return pem
}

function sign(directory: string, csrPem: string, issuer: string, extension: string): string {
  writeFileSync(join(directory, 'request.pem'), csrPem)
  writeFileSync(join(directory, 'extensions.cnf'), `${extension}\n`)
  const inDirectory = (name: string): string => join(directory, name)
  return openssl(
    ['x509', '-req', '-in', inDirectory('request.pem'), '-days', '9', '-sha256'],
    ['-CA', inDirectory(`${issuer}.pem`), '-CAkey', inDirectory(`${issuer}.key`)],
    ['-CAcreateserial', '-extfile', inDirectory('extensions.cnf')],
  )
}

function openssl(...args: string[][]): string {
  return execFileSync('openssl', args.flat(), { encoding: 'utf8', stdio: 'pipe' })
}
