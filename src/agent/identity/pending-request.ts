// What an enrolment or a recovery sends is on disk before it is sent, so that one whose reply was lost is repeated with
// the same key and CSR; an enrolment with the same Idempotency-Key and recipient too, so that the hub can answer the same.

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, UserError } from '../../platform/errors.ts'
import { exists, readTextIfPresent, syncDirectory, writeNewFile } from '../../platform/files.ts'
import { createCsrPem, parseCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key, parsePrivateKeyPem, type PrivateKey } from '../../pki/keys.ts'
import { parseRecipient, type Recipient } from '../../protocol/identifiers.ts'

/** Each has a directory of its own: a recovery must not undo an enrolment whose reply was lost. */
export type PendingPurpose = 'enrolment' | 'recovery'

export interface PendingRequest {
  readonly key: PrivateKey
  readonly csrPem: string
  readonly idempotencyKey: string
  /** Of files that are sealed for this host; one that was begun without goes on without. */
  readonly recipient: Recipient | undefined
}

const RequestFile = Type.Object({
  hostname: Type.String(),
  idempotency_key: Type.String({ minLength: 1, maxLength: 128 }),
  recipient: Type.Optional(Type.String()),
})
type RequestFile = Static<typeof RequestFile>

const KEY = 'agent.key'
const CSR = 'agent.csr'
const REQUEST = 'request.json'
const FILE_BYTES_MAX = 64 * 1024

/** The one that is under way for this hostname, else a new one, durable when it resolves. */
export async function preparePendingRequest(
  purpose: PendingPurpose,
  pendingDir: string,
  hostname: string,
  currentKeySpki: Buffer | undefined,
  recipient?: Recipient,
): Promise<PendingRequest> {
  await removeStaged(pendingDir)
  const found = await readPending(purpose, pendingDir)
  const isDone =
    currentKeySpki !== undefined && found?.pending.key.publicKeySpki.equals(currentKeySpki)
  if (found?.hostname === hostname && isDone !== true) return found.pending
  // A CSR for another name, or one that has become the identity already, is of no use any more.
  await removePendingRequest(pendingDir)
  return createPendingRequest(pendingDir, hostname, recipient)
}

/** Whole or not at all: what a crash leaves half removed would be called damaged by the next try. */
export async function removePendingRequest(pendingDir: string): Promise<void> {
  if (!(await exists(pendingDir))) return
  const staged = stagedName(pendingDir)
  await rename(pendingDir, staged)
  await syncDirectory(dirname(pendingDir))
  await rm(staged, { recursive: true, force: true })
}

/**
 * A request that has become the identity, by a command that was killed before it could tidy up, is over. Sent once more
 * when that identity has a successor, it would be answered with the one that is superseded by then.
 */
export async function removeFulfilledRequest(
  pendingDir: string,
  currentKeySpki: Buffer,
): Promise<void> {
  const keyPem = await readTextIfPresent(join(pendingDir, KEY), FILE_BYTES_MAX)
  if (keyPem === undefined || !isKeyOf(keyPem, currentKeySpki)) return
  await removePendingRequest(pendingDir)
}

/** What cannot be read is told by the command that needs it. */
function isKeyOf(pem: string, publicKeySpki: Buffer): boolean {
  try {
    return parsePrivateKeyPem(pem).publicKeySpki.equals(publicKeySpki)
  } catch {
    return false
  }
}

async function createPendingRequest(
  pendingDir: string,
  hostname: string,
  recipient: Recipient | undefined,
): Promise<PendingRequest> {
  const key = await generateEcP256Key()
  const csrPem = await createCsrPem(hostname, key)
  const idempotencyKey = randomUUID()
  const request: RequestFile = {
    hostname,
    idempotency_key: idempotencyKey,
    ...(recipient === undefined ? {} : { recipient }),
  }
  const staged = stagedName(pendingDir)
  await mkdir(staged, { mode: 0o700 })
  await writeNewFile(join(staged, KEY), key.pem, 0o600)
  await writeNewFile(join(staged, CSR), csrPem, 0o600)
  await writeNewFile(join(staged, REQUEST), `${JSON.stringify(request)}\n`, 0o600)
  await syncDirectory(staged)
  await rename(staged, pendingDir)
  await syncDirectory(dirname(pendingDir))
  return { key, csrPem, idempotencyKey, recipient }
}

async function readPending(
  purpose: PendingPurpose,
  pendingDir: string,
): Promise<{ hostname: string; pending: PendingRequest } | undefined> {
  if (!(await exists(pendingDir))) return undefined
  try {
    const key = parsePrivateKeyPem(await readRequired(join(pendingDir, KEY)))
    const csrPem = await readRequired(join(pendingDir, CSR))
    const csr = parseCsrPem(csrPem)
    if (csr === undefined || !csr.publicKeySpki.equals(key.publicKeySpki)) {
      throw new Error(`${CSR} is not a CSR of ${KEY}`)
    }
    const request = JSON.parse(await readRequired(join(pendingDir, REQUEST))) as unknown
    if (!Check(RequestFile, request)) throw new Error(`${REQUEST} is not valid`)
    const recipient =
      request.recipient === undefined ? undefined : parseRecipient(request.recipient)
    if (recipient !== request.recipient) throw new Error(`${REQUEST} is not valid`)
    return {
      hostname: request.hostname,
      pending: { key, csrPem, idempotencyKey: request.idempotency_key, recipient },
    }
  } catch (error) {
    // Nothing is lost with a recovery: nothing waits for it, and the next recovery starts from the same identity.
    if (purpose === 'recovery') return undefined
    throw new UserError(
      'pending_damaged',
      `pending ${purpose} at ${pendingDir} is damaged: ${describeError(error)}`,
      { hint: `remove ${pendingDir}; if the token is used up, ask for a new one` },
    )
  }
}

async function readRequired(path: string): Promise<string> {
  const text = await readTextIfPresent(path, FILE_BYTES_MAX)
  if (text === undefined) throw new Error(`${basename(path)} is missing`)
  return text
}

function stagedName(pendingDir: string): string {
  return `${pendingDir}.${randomBytes(6).toString('hex')}.tmp`
}

/** A crash before or after the rename leaves a directory that is no longer needed. */
async function removeStaged(pendingDir: string): Promise<void> {
  const parent = dirname(pendingDir)
  const prefix = `${basename(pendingDir)}.`
  const staged = (await readdir(parent)).filter(
    (name) => name.startsWith(prefix) && name.endsWith('.tmp'),
  )
  // Who was killed after the rename has not synced it: a power cut would bring the old name back, with what is left in it.
  if (staged.length > 0) await syncDirectory(parent)
  for (const name of staged) await rm(join(parent, name), { recursive: true, force: true })
}
