// What must hold on a host at every instant: matching pairs, and keys that are nobody else's.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoCode } from '../../src/platform/errors.ts'

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/

export interface Pair {
  readonly certificatePem: string
  readonly keyPem: string
  readonly serial: string
}

/** As a reader finds it under its two names; undefined when neither is there, and a text when they do not match. */
export async function readPair(
  certificatePath: string,
  keyPath: string,
): Promise<Pair | string | undefined> {
  const [certificatePem, keyPem] = [await readText(certificatePath), await readText(keyPath)]
  if (certificatePem === undefined && keyPem === undefined) return undefined
  if (certificatePem === undefined) return `${keyPath} without ${certificatePath}`
  if (keyPem === undefined) return `${certificatePath} without ${keyPath}`
  try {
    const certificate = new X509Certificate(certificatePem)
    if (!certificate.checkPrivateKey(createPrivateKey(keyPem))) return 'a pair that does not match'
    return { certificatePem, keyPem, serial: certificate.serialNumber.toLowerCase() }
  } catch (error) {
    return `a pair that cannot be read: ${String(error)}`
  }
}

/** Files below a directory that hold a private key and have another mode than theirs. */
export async function findOpenKeys(
  directory: string,
  modesOf: (path: string) => readonly number[] = () => [0o600],
): Promise<string[]> {
  const faults: string[] = []
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const text = await readText(path)
    if (text === undefined || !PRIVATE_KEY.test(text)) continue
    const mode = (await stat(path)).mode & 0o7777
    if (!modesOf(path).includes(mode))
      faults.push(`${path} holds a key with mode ${mode.toString(8)}`)
  }
  return faults
}

export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}
