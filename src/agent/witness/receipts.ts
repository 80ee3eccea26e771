// The last receipts of the agent's own events: what the hub answered, kept where the hub cannot reach it. docs/protocol.md CHN-34.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { formatReceipt, parseReceipt, type Receipt } from '../../audit/receipt.ts'
import type { Clock } from '../../platform/clock.ts'
import { describeError, errnoCode, SvcError } from '../../platform/errors.ts'
import { readTextIfPresent, replaceFile, syncDirectory } from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import type { RecordedEvent } from '../hub/outbox.ts'

const RECEIPTS_MAX = 1000
/** The file is cut to its last receipts when it is longer: half as many again. */
const BYTES_MAX = 512 * 1024
const MODE = 0o600
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
const LINE_BREAK = '\n'

export interface ReceiptContext {
  readonly path: string
  readonly clock: Clock
  readonly log: Logger
}

/** Durable when it resolves. A receipt that the disk does not take is told of once, and holds up no event. */
export function createReceiptKeeper({
  path,
  clock,
  log,
}: ReceiptContext): (event: RecordedEvent) => Promise<void> {
  let isFailing = false
  return async ({ type, deliveryId, requestId, receipt }) => {
    const at = clock.now().toISOString()
    const { entryId, hash } = receipt
    try {
      await appendReceipt(path, { entryId, hash, eventType: type, deliveryId, requestId, at })
      isFailing = false
    } catch (error) {
      if (errnoCode(error) === undefined) throw error
      const fields = { reason: describeError(error) }
      if (!isFailing) log.warn(fields, 'Receipts of events cannot be kept')
      isFailing = true
    }
  }
}

/** The oldest first. None when there is no file; what a crash left half written is left out. */
export async function readReceipts(path: string): Promise<readonly Receipt[]> {
  const text = await readTextIfPresent(path, 2 * BYTES_MAX).catch((error: unknown) => {
    // The agent writes no such file.
    if (error instanceof SvcError) return undefined
    throw error
  })
  const lines = text?.split(LINE_BREAK) ?? []
  return lines.flatMap((line) => parseReceipt(line) ?? [])
}

export interface ReceiptsDescription {
  readonly count: number
  /** Of the newest one. */
  readonly newest_at: string | null
  readonly file: string
}

export async function describeReceipts(path: string): Promise<ReceiptsDescription> {
  const receipts = await readReceipts(path)
  return { count: receipts.length, newest_at: receipts.at(-1)?.at ?? null, file: path }
}

/** Exported for its test. */
export async function appendReceipt(path: string, receipt: Receipt): Promise<void> {
  const line = `${formatReceipt(receipt)}${LINE_BREAK}`
  const isAppended = await appendToWhole(path, line)
  if (isAppended) return
  const kept = (await readReceipts(path)).slice(1 - RECEIPTS_MAX).map(formatReceipt)
  const text = kept.map((one) => `${one}${LINE_BREAK}`).join('')
  await replaceFile(path, `${text}${line}`, MODE)
}

/** False when the file is too long, or a crash left its last line half written. */
async function appendToWhole(path: string, line: string): Promise<boolean> {
  const file = await open(path, APPEND, MODE)
  try {
    const { size } = await file.stat()
    if (size > BYTES_MAX) return false
    if (size > 0) {
      const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
      if (buffer.toString() !== LINE_BREAK) return false
    }
    await file.write(line)
    await file.sync()
    if (size === 0) await syncDirectory(dirname(path))
    return true
  } finally {
    await file.close()
  }
}
