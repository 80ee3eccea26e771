// How a running hub has been, minute by minute, in memory of fixed size. docs/protocol.md OVW.

/** Of one minute; null where nothing was measured: nobody asked, or the hub was not awake. */
export interface HubSample {
  readonly requestsPerSecond: number | null
  readonly requestP99Ms: number | null
  readonly caMedianMs: number | null
  readonly caP99Ms: number | null
  readonly connected: number | null
  readonly busyPercent: number | null
}

export interface HubSamples {
  /** Since when this hub counts. */
  readonly since: Date
  /** When the last minute ended. */
  readonly until: Date
  /** Oldest first, each a minute after the one before. */
  readonly samples: readonly HubSample[]
}

export const SAMPLE_INTERVAL_MS = 60_000
/** A day. */
export const SAMPLES_MAX = 1440

export const NO_SAMPLE: HubSample = {
  requestsPerSecond: null,
  requestP99Ms: null,
  caMedianMs: null,
  caP99Ms: null,
  connected: null,
  busyPercent: null,
}
