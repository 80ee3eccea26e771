// Holds receipts against the entries of a whole log, entry by entry. docs/protocol.md CHN-35.

import type { Receipt } from './receipt.ts'
import type { RecordedEntry } from './record.ts'

export interface ReceiptFault {
  readonly receipt: Receipt
  readonly reason: string
}

export class ReceiptCheck {
  /** A sender may have two receipts of an entry, since it may have asked twice. */
  readonly #open = new Map<string, Receipt[]>()
  readonly #faults: ReceiptFault[] = []
  readonly count: number
  #last = ''

  constructor(receipts: readonly Receipt[]) {
    this.count = receipts.length
    for (const receipt of receipts) {
      const others = this.#open.get(receipt.entryId)
      if (others === undefined) this.#open.set(receipt.entryId, [receipt])
      else others.push(receipt)
    }
  }

  add(entry: RecordedEntry): void {
    this.#last = entry.timestamp
    const receipts = this.#open.get(entry.id)
    if (receipts === undefined) return
    this.#open.delete(entry.id)
    for (const receipt of receipts) {
      const column = findOtherColumn(receipt, entry)
      if (column === undefined) continue
      this.#faults.push({ receipt, reason: `entry ${entry.seq} of the log has another ${column}` })
    }
  }

  /** After the last entry: each receipt that the log does not bear out. */
  finish(): readonly ReceiptFault[] {
    const missing = [...this.#open.values()].flat().map((receipt) => ({
      receipt,
      reason:
        receipt.at > this.#last
          ? `no entry of the log has this id; the last entry is of ${this.#last}`
          : 'no entry of the log has this id',
    }))
    return [...this.#faults, ...missing]
  }
}

function findOtherColumn(receipt: Receipt, entry: RecordedEntry): string | undefined {
  if (receipt.hash !== entry.hash) return 'hash_atual'
  if (receipt.eventType !== entry.eventType) return 'tipo_evento'
  if (receipt.deliveryId !== entry.deliveryId) return 'entrega_id'
  if (receipt.requestId !== entry.requestId) return 'request_id'
  return undefined
}
