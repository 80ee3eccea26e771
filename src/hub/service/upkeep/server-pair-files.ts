// The hub's certificate and its key on disk. At every instant, across kill -9 and a full disk, the certificate in place
// has its key beside it: the next key waits under a name of its own until the next certificate is in place, and a
// reader takes the key that matches. docs/protocol.md VLT-15.

import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, errnoCode, SvcError } from '../../../platform/errors.ts'
import { readTextIfPresent, replaceFile, syncDirectory } from '../../../platform/files.ts'
import type { Logger } from '../../../platform/logger.ts'
import { parseCertificatePem } from '../../../pki/certificates.ts'
import { parsePrivateKeyPem } from '../../../pki/keys.ts'

export interface ServerPair {
  readonly keyPem: string
  /** Leaf and intermediates. */
  readonly chainPem: string
}

const CERTIFICATE_FILE = 'server.crt'
const KEY_FILE = 'server.key'
/** From just before its certificate is in place until just after. */
const NEXT_KEY_FILE = 'server.key.new'
const ROOT_FILE = 'ca.crt'
const FILE_BYTES_MAX = 1024 * 1024

/** What is there, whether it is any good or not; undefined when one of the two is missing. Throws SvcError. */
export async function readServerPair(
  vaultRoot: string,
  log: Logger,
): Promise<ServerPair | undefined> {
  const chainPem = await readStored(vaultRoot, CERTIFICATE_FILE)
  if (chainPem === undefined) return undefined
  const nextKeyPem = await findNextKeyOf(chainPem, vaultRoot)
  if (nextKeyPem === undefined) {
    const keyPem = await readStored(vaultRoot, KEY_FILE)
    return keyPem === undefined ? undefined : { keyPem, chainPem }
  }
  await promoteNextKey(vaultRoot).catch((error: unknown) => {
    log.warn({ reason: describeError(error) }, 'Key of the server certificate not renamed')
  })
  return { keyPem: nextKeyPem, chainPem }
}

/** Replaces both, or fails and leaves a pair that matches. Throws SvcError. */
export async function storeServerPair(
  vaultRoot: string,
  { keyPem, chainPem }: ServerPair,
  rootPem: string,
): Promise<void> {
  const oldChainPem = await readStored(vaultRoot, CERTIFICATE_FILE)
  const waitingKeyPem =
    oldChainPem === undefined ? undefined : await findNextKeyOf(oldChainPem, vaultRoot)
  try {
    // It is the key of the certificate in place, and its name is needed for the next one.
    if (waitingKeyPem !== undefined) await promoteNextKey(vaultRoot)
    await replaceFile(join(vaultRoot, ROOT_FILE), rootPem, 0o644)
    await replaceFile(join(vaultRoot, NEXT_KEY_FILE), keyPem, 0o600)
    await replaceFile(join(vaultRoot, CERTIFICATE_FILE), chainPem, 0o644)
    await promoteNextKey(vaultRoot)
  } catch (error) {
    throw fileFailure('cannot store the server certificate in', vaultRoot, error)
  }
}

/** The roots, for readers that look for them beside the certificate. Throws SvcError. */
export async function storeRoots(vaultRoot: string, rootPem: string): Promise<void> {
  if ((await readStored(vaultRoot, ROOT_FILE)) === rootPem) return
  try {
    await replaceFile(join(vaultRoot, ROOT_FILE), rootPem, 0o644)
  } catch (error) {
    throw fileFailure('cannot store the roots in', vaultRoot, error)
  }
}

/** The key that waits, when it belongs to the certificate in place: the hub ended between the two steps. */
async function findNextKeyOf(chainPem: string, vaultRoot: string): Promise<string | undefined> {
  const keyPem = await readStored(vaultRoot, NEXT_KEY_FILE)
  return keyPem !== undefined && isPair(chainPem, keyPem) ? keyPem : undefined
}

async function promoteNextKey(vaultRoot: string): Promise<void> {
  await rename(join(vaultRoot, NEXT_KEY_FILE), join(vaultRoot, KEY_FILE))
  await syncDirectory(vaultRoot)
}

function isPair(chainPem: string, keyPem: string): boolean {
  try {
    const { publicKeySpki } = parseCertificatePem(chainPem)
    return publicKeySpki.equals(parsePrivateKeyPem(keyPem).publicKeySpki)
  } catch {
    // What does not parse is half of nothing.
    return false
  }
}

async function readStored(vaultRoot: string, name: string): Promise<string | undefined> {
  const path = join(vaultRoot, name)
  try {
    return await readTextIfPresent(path, FILE_BYTES_MAX)
  } catch (error) {
    throw fileFailure('cannot read', path, error)
  }
}

function fileFailure(what: string, path: string, error: unknown): unknown {
  const why = error instanceof SvcError ? error.message : errnoCode(error)
  if (why === undefined) return error
  return new SvcError('server_certificate_files', `${what} ${path}: ${why}`, {
    cause: error,
    hint: `check owner, mode and free space of ${path}; without a server certificate and its key the hub asks for new ones`,
  })
}
