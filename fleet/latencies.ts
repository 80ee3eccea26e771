// How long many operations took, counted by the driver in buckets that are 5 % wide: percentiles of any number of them.

/** Bucket by bucket, how many operations fell into it; fleet/driver/histogram.go counts by the same rule. */
export type Latencies = readonly (readonly [bucket: number, count: number])[]

const BUCKET_WIDTH = 1.05

export function mergeLatencies(parts: readonly Latencies[]): Latencies {
  const counts = new Map<number, number>()
  for (const [bucket, count] of parts.flat()) counts.set(bucket, (counts.get(bucket) ?? 0) + count)
  return [...counts].toSorted(([a], [b]) => a - b)
}

/** The upper end of the bucket below which that share of them ended; undefined when there were none. */
export function percentileMs(latencies: Latencies, share: number): number | undefined {
  const sorted = latencies.toSorted(([a], [b]) => a - b)
  const rank = Math.ceil(countOf(sorted) * share)
  let seen = 0
  for (const [bucket, count] of sorted) {
    seen += count
    if (count > 0 && seen >= rank) return BUCKET_WIDTH ** (bucket + 1) / 1000
  }
  return undefined
}

export function countOf(latencies: Latencies): number {
  return latencies.reduce((sum, [, count]) => sum + count, 0)
}
