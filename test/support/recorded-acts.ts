import type { StoreReader } from '../../src/hub/store/store.ts'

export type RecordedAct = readonly [eventType: string, payload: unknown]

/** The audit log, oldest first: the type and the payload of each entry, or of those after `afterSeq`. */
export async function readActs(
  reader: Pick<StoreReader, 'listEntries'>,
  afterSeq = 0,
): Promise<RecordedAct[]> {
  const entries = await reader.listEntries({ afterSeq, limit: 1000 })
  return entries.map(({ eventType, payloadText }) => [eventType, JSON.parse(payloadText)])
}

/** After which nothing is recorded yet. */
export async function lastSeq(reader: Pick<StoreReader, 'findChainEnd'>): Promise<number> {
  return (await reader.findChainEnd())?.seq ?? 0
}
