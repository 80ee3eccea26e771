// The content of a backup: frames of 256 KiB, the last one shorter or as long, each sealed with AES-256-GCM under a key that
// this backup alone has. A nonce is the number of the frame and whether it is the last one, and the MAC of the head goes
// into each seal: a frame opens only in its own place of its own backup. docs/protocol.md BKP-3.

import { deriveSaltedKey, SEAL_BYTES } from '../platform/sealed-pieces.ts'
import type { Secret } from '../platform/secret.ts'
import type { BackupHead } from './backup-head.ts'

export const FRAME_BYTES: number = 256 * 1024

export interface BackupKeys {
  readonly head: Buffer
  readonly frames: Buffer
}

export function deriveBackupKeys(
  dataKey: Secret<Buffer>,
  { salt }: Pick<BackupHead, 'salt'>,
): BackupKeys {
  const derive = (purpose: string): Buffer => deriveSaltedKey(dataKey, salt, purpose)
  return { head: derive('svc backup head v1'), frames: derive('svc backup frames v1') }
}

/** At least one: an empty frame ends a backup of nothing. */
export function countFrames(contentBytes: number): number {
  return Math.max(1, Math.ceil(contentBytes / FRAME_BYTES))
}

export function countSealedBytes(contentBytes: number): number {
  return contentBytes + countFrames(contentBytes) * SEAL_BYTES
}
