// The hubs of a vault keep an image of it in their journal that is new enough: whichever of them finds first that another one is due makes it,
// and removes what nobody needs any more. docs/protocol.md JRN-9 to JRN-11.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { BackupPace } from '../backup/backup-pace.ts'
import type { JournalImages, JournalSize } from '../store/journal-images.ts'
import { makeImage, type MakeImageOptions } from './make-image.ts'

export interface ImageKeeperOptions extends Omit<MakeImageOptions, 'pace'> {
  readonly images: JournalImages
  readonly pace: BackupPace
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

export interface ImageKeeper {
  /** How large the journal was when it was looked at last; undefined before that. */
  look(this: void): { readonly size: JournalSize; readonly at: Date } | undefined
  run(this: void, signal: AbortSignal): Promise<void>
}

const RECORD_BYTES_MIN = 64 * 1024 * 1024
const AGE_MS_MAX = 24 * 60 * 60_000
const LOOK_INTERVAL_MS = 60_000
const RETRY_MS = 15 * 60_000

export function createImageKeeper(options: ImageKeeperOptions): ImageKeeper {
  const { images, clock, random, log } = options
  let seen: ReturnType<ImageKeeper['look']>
  const measure = async (): Promise<JournalSize> => {
    const size = await images.measure()
    seen = { size, at: clock.now() }
    return size
  }
  let retryAtMs = 0
  const look = async (signal: AbortSignal): Promise<void> => {
    try {
      if (!isImageDue(await measure())) return
      await makeOne(options, signal)
      await measure()
    } catch (error) {
      // A hub that stops does not wait for it.
      if (signal.aborted) return
      retryAtMs = clock.now().getTime() + RETRY_MS
      log.error({ reason: describeError(error) }, 'Image of the vault not made, tried again')
    }
  }
  return {
    look: () => seen,
    run: async (signal) => {
      while (!signal.aborted) {
        if (clock.now().getTime() >= retryAtMs) await look(signal)
        // Not all hubs at once. The signal ends the wait.
        await clock.sleep(LOOK_INTERVAL_MS * (0.5 + random()), signal).catch(() => undefined)
      }
    },
  }
}

export function isImageDue({ newest, recordsSince, recordBytesSince }: JournalSize): boolean {
  if (newest === undefined) return true
  if (recordsSince === 0) return false
  return (
    recordBytesSince > Math.max(RECORD_BYTES_MIN, newest.bytes / 2) || newest.ageMs >= AGE_MS_MAX
  )
}

async function makeOne(options: ImageKeeperOptions, signal: AbortSignal): Promise<void> {
  const { images, log } = options
  const made = await makeImage(options, signal)
  if (made === undefined) return
  log.info({ record: made.position.number, bytes: made.bytes }, 'Image of the vault made')
  await images.trim()
}
