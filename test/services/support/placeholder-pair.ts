// What a package puts in place so that its server starts before there is a certificate: a self-signed one.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTool } from '../../support/processes.ts'

export interface PlaceholderPair {
  readonly certificatePem: string
  readonly keyPem: string
}

export async function createPlaceholderPair(): Promise<PlaceholderPair> {
  return inTemporaryDirectory(async (directory) => {
    const [certificate, key] = await makeFiles(directory)
    return {
      certificatePem: await readFile(certificate, 'utf8'),
      keyPem: await readFile(key, 'utf8'),
    }
  })
}

export async function createPlaceholderStore(password: string): Promise<Buffer> {
  return inTemporaryDirectory(async (directory) => {
    const [certificate, key] = await makeFiles(directory)
    const store = join(directory, 'store.p12')
    const files = ['-in', certificate, '-inkey', key, '-out', store]
    await runTool('openssl', ['pkcs12', '-export', ...files, '-passout', `pass:${password}`])
    return readFile(store)
  })
}

async function makeFiles(directory: string): Promise<[certificate: string, key: string]> {
  const certificate = join(directory, 'snakeoil.pem')
  const key = join(directory, 'snakeoil.key')
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-out', certificate, '-keyout', key]
  await runTool('openssl', ['req', '-x509', ...kind, '-subj', '/CN=snakeoil', ...files])
  return [certificate, key]
}

async function inTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'placeholder-'))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
