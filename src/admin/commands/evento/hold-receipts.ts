// What `svc evento verify --receipts` says of the receipts that an agent kept. docs/protocol.md CHN-35.

import { createReadStream } from 'node:fs'
import { parseReceipt, type Receipt } from '../../../audit/receipt.ts'
import type { ReceiptFault } from '../../../audit/receipt-check.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import { readLines } from '../../../platform/read-lines.ts'
import { explainFile } from '../explain-file.ts'

export interface ReceiptsVerification {
  readonly ok: boolean
  readonly count: number
  /** Those that the log does not bear out. */
  readonly faults: readonly {
    readonly evento_id: string
    readonly tipo_evento: string
    readonly at: string
    readonly reason: string
  }[]
}

/** Those of a thousand agents. */
const RECEIPTS_MAX = 1_000_000
const LINE_BYTES_MAX = 4096
const EXIT_STATUS = 2

export async function readReceiptFile(path: string): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = []
  const lines = readLines(createReadStream(path), { name: path, lineBytesMax: LINE_BYTES_MAX })
  await explainFile(path, async () => {
    for await (const some of lines) {
      for (const line of some) {
        const receipt = parseReceipt(line)
        const place = `${path}, line ${receipts.length + 1}`
        if (receipt === undefined) {
          throw new UserError('file_invalid', `${place}: this is no receipt`, {
            hint: 'an agent keeps them in its directory of state, as receipts.jsonl',
          })
        }
        if (receipts.length === RECEIPTS_MAX) {
          throw new UserError('file_too_large', `${place}: more than ${RECEIPTS_MAX} receipts`)
        }
        receipts.push(receipt)
      }
    }
  })
  return receipts
}

export function describeReceipts(
  count: number,
  faults: readonly ReceiptFault[],
): ReceiptsVerification {
  return {
    ok: faults.length === 0,
    count,
    faults: faults.map(({ receipt: { entryId, eventType, at }, reason }) => ({
      evento_id: entryId,
      tipo_evento: eventType,
      at,
      reason,
    })),
  }
}

export function formatReceipts({ ok, count, faults }: ReceiptsVerification): string {
  if (ok) return `receipts ok: all ${count} are in the log\n`
  return faults
    .map(
      ({ evento_id: id, tipo_evento: type, at, reason }) =>
        `receipt ${id} (${type}) of ${at}: ${reason}\n`,
    )
    .join('')
}

export function failIfNotBorneOut({ ok, count, faults }: ReceiptsVerification): void {
  if (ok) return
  throw new SvcError(
    'receipts_differ',
    `the log does not bear out ${faults.length} of ${count} receipts`,
    {
      exitStatus: EXIT_STATUS,
      hint: 'export the log after the receipts were copied; when they are still not in it, somebody changed the log before it was signed, or svc restore went back behind them',
    },
  )
}
