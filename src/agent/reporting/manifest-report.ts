// `manifest_pulled` is sent when the number of deliveries has changed, and once an hour: the log is for ever.

export interface ManifestReport {
  readonly count: number
  readonly at: Date
}

const INTERVAL_MS = 3_600_000

/** The report to send now, if one is due. */
export function decideManifestReport(
  last: ManifestReport | undefined,
  count: number,
  now: Date,
): ManifestReport | undefined {
  const isDue =
    last === undefined || last.count !== count || now.getTime() - last.at.getTime() >= INTERVAL_MS
  return isDue ? { count, at: now } : undefined
}
