// What an enrolment sends is on disk before it is sent, so that one whose reply was lost is repeated with the same key,
// CSR and Idempotency-Key, and the hub can answer the same.

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, UserError } from '../../platform/errors.ts'
import { exists, readTextIfPresent, syncDirectory, writeNewFile } from '../../platform/files.ts'
import { createCsrPem, parseCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key, parsePrivateKeyPem, type PrivateKey } from '../../pki/keys.ts'
import type { Hostname } from '../../protocol/identifiers.ts'

export interface PendingEnrollment {
  readonly key: PrivateKey
  readonly csrPem: string
  readonly idempotencyKey: string
}

const RequestFile = Type.Object({
  hostname: Type.String(),
  idempotency_key: Type.String({ minLength: 1, maxLength: 128 }),
})
type RequestFile = Static<typeof RequestFile>

const KEY = 'agent.key'
const CSR = 'agent.csr'
const REQUEST = 'request.json'
const FILE_BYTES_MAX = 64 * 1024

/** The enrolment that is under way for this hostname, else a new one, durable when it resolves. */
export async function preparePendingEnrollment(
  pendingDir: string,
  hostname: Hostname,
  currentKeySpki: Buffer | undefined,
): Promise<PendingEnrollment> {
  await removeStaged(pendingDir)
  const found = await readPending(pendingDir)
  const isDone =
    currentKeySpki !== undefined && found?.pending.key.publicKeySpki.equals(currentKeySpki)
  if (found?.hostname === hostname && isDone !== true) return found.pending
  // A CSR for another name, or one that has become the identity already, is of no use any more.
  if (found !== undefined) await removePendingEnrollment(pendingDir)
  return createPending(pendingDir, hostname)
}

export async function removePendingEnrollment(pendingDir: string): Promise<void> {
  await rm(pendingDir, { recursive: true, force: true })
  await syncDirectory(dirname(pendingDir))
}

async function createPending(pendingDir: string, hostname: Hostname): Promise<PendingEnrollment> {
  const key = await generateEcP256Key()
  const csrPem = await createCsrPem(hostname, key)
  const idempotencyKey = randomUUID()
  const request: RequestFile = { hostname, idempotency_key: idempotencyKey }
  const staged = `${pendingDir}.${randomBytes(6).toString('hex')}.tmp`
  await mkdir(staged, { mode: 0o700 })
  await writeNewFile(join(staged, KEY), key.pem, 0o600)
  await writeNewFile(join(staged, CSR), csrPem, 0o600)
  await writeNewFile(join(staged, REQUEST), `${JSON.stringify(request)}\n`, 0o600)
  await syncDirectory(staged)
  await rename(staged, pendingDir)
  await syncDirectory(dirname(pendingDir))
  return { key, csrPem, idempotencyKey }
}

async function readPending(
  pendingDir: string,
): Promise<{ hostname: string; pending: PendingEnrollment } | undefined> {
  if (!(await exists(pendingDir))) return undefined
  try {
    const key = parsePrivateKeyPem(await readRequired(join(pendingDir, KEY)))
    const csrPem = await readRequired(join(pendingDir, CSR))
    const csr = await parseCsrPem(csrPem)
    if (csr === undefined || !csr.publicKeySpki.equals(key.publicKeySpki)) {
      throw new Error(`${CSR} is not a CSR of ${KEY}`)
    }
    const request = JSON.parse(await readRequired(join(pendingDir, REQUEST))) as unknown
    if (!Check(RequestFile, request)) throw new Error(`${REQUEST} is not valid`)
    return {
      hostname: request.hostname,
      pending: { key, csrPem, idempotencyKey: request.idempotency_key },
    }
  } catch (error) {
    throw new UserError(
      'pending_damaged',
      `pending enrolment at ${pendingDir} is damaged: ${describeError(error)}`,
      { hint: `remove ${pendingDir}; if the token was used up already, a new one is needed` },
    )
  }
}

async function readRequired(path: string): Promise<string> {
  const text = await readTextIfPresent(path, FILE_BYTES_MAX)
  if (text === undefined) throw new Error(`${basename(path)} is missing`)
  return text
}

/** A crash before the rename leaves a directory that was never used. */
async function removeStaged(pendingDir: string): Promise<void> {
  const parent = dirname(pendingDir)
  const prefix = `${basename(pendingDir)}.`
  for (const name of await readdir(parent)) {
    if (name.startsWith(prefix) && name.endsWith('.tmp')) {
      await rm(join(parent, name), { recursive: true, force: true })
    }
  }
}
