// The audit log after the week, and what can be read off it.

import assert from 'node:assert/strict'
import { ChainVerifier } from '../../src/audit/hash-chain.ts'
import type { AuditEntry } from '../../src/hub/domain/audit-entry.ts'
import type { StoreReader } from '../../src/hub/store/store.ts'

export interface LoggedEntry {
  readonly type: string
  readonly agentId: string | null
  readonly deliveryId: string | null
  readonly requestId: string | null
  readonly atMs: number
  readonly payload: Readonly<Record<string, unknown>>
}

const PAGE = 1000

/** All entries; fails when the chain does not verify. */
export async function readVerifiedLog(reader: StoreReader): Promise<LoggedEntry[]> {
  const verifier = new ChainVerifier()
  const entries: LoggedEntry[] = []
  for (;;) {
    const page = await reader.listEntries({ afterSeq: entries.length, limit: PAGE })
    for (const entry of page) {
      verifier.add(entry)
      entries.push(toLogged(entry))
    }
    if (page.length < PAGE) break
  }
  assert.equal(verifier.fault, undefined)
  assert.equal(verifier.count, entries.length)
  return entries
}

/** Serials from the first to the last, each renewed from the one before; fails where the chain of reports breaks. */
export function followRenewals(reports: readonly LoggedEntry[]): readonly string[] {
  const serials: string[] = []
  for (const { payload } of reports) {
    const [from, to] = [String(payload['old_serial']), String(payload['new_serial'])]
    if (serials.length === 0) serials.push(from)
    assert.equal(from, serials.at(-1), 'each renewal is reported once and in order')
    serials.push(to)
  }
  return serials
}

/** The shortest time between two of them; none when there are fewer. */
export function shortestGapMs(entries: readonly LoggedEntry[]): number {
  const gaps = entries.slice(1).map(({ atMs }, index) => atMs - (entries[index]?.atMs ?? 0))
  return Math.min(Number.POSITIVE_INFINITY, ...gaps)
}

function toLogged(entry: AuditEntry): LoggedEntry {
  return {
    type: entry.eventType,
    agentId: entry.agentId,
    deliveryId: entry.deliveryId,
    requestId: entry.requestId,
    atMs: Date.parse(entry.timestamp),
    payload: JSON.parse(entry.payloadText) as LoggedEntry['payload'],
  }
}
