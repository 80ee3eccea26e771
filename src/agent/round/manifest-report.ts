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
  if (last === undefined || last.count !== count) return { count, at: now }
  const agoMs = now.getTime() - last.at.getTime()
  // A clock that was set back must not silence us until it has caught up.
  const isDue = agoMs >= INTERVAL_MS || agoMs < 0
  return isDue ? { count, at: now } : undefined
}
