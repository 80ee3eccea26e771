// The certificates that were revoked, kept in one file that changes as a whole.

import { readTextIfPresent, replaceFile } from '../platform/files.ts'

export interface Revocation {
  /** Decimal, as step-ca writes it. */
  readonly serial: string
  readonly reasonCode: number
  readonly reason: string
  readonly revokedAt: string
}

export interface Revocations {
  /** False when the certificate was revoked before. Durable once it resolves. */
  add(revocation: Revocation): Promise<boolean>
}

const FILE_BYTES_MAX = 64 * 1024 * 1024

export async function openRevocations(path: string): Promise<Revocations> {
  const text = (await readTextIfPresent(path, FILE_BYTES_MAX)) ?? '[]'
  const entries = JSON.parse(text) as Revocation[]
  const bySerial = new Map(entries.map((revocation) => [revocation.serial, revocation]))
  let lastWrite: Promise<void> = Promise.resolve()
  return {
    add: async (revocation) => {
      if (bySerial.has(revocation.serial)) return false
      bySerial.set(revocation.serial, revocation)
      const write = async (): Promise<void> =>
        replaceFile(path, `${JSON.stringify([...bySerial.values()], null, 2)}\n`, 0o600)
      // One write at a time, and a failed one does not stop those after it.
      lastWrite = lastWrite.then(write, write)
      try {
        await lastWrite
      } catch (error) {
        bySerial.delete(revocation.serial)
        throw error
      }
      return true
    },
  }
}
