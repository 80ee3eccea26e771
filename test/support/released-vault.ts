/** What a released version said of its vault, in `expected.json` beside it. */
export interface ReleasedVault {
  readonly hostnames: readonly string[]
  readonly deliveries: number
  readonly events: number
  /** Of the last entry then; what this version adds comes after it. */
  readonly lastHash: string
}
