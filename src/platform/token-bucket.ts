// A rate limit per key (RFC 2475's token bucket): `burst` at once, refilled at `perSecond`. Memory is bounded: full
// buckets are forgotten, since a forgotten bucket is a full one.

export interface TokenBuckets {
  /** Takes one token; answers 0, or how many milliseconds to wait until there would be one. */
  take(key: string): number
  /** What `take` would answer now, taking nothing. */
  waitMs(key: string): number
  /** Gives back a token that the caller took and did not use. */
  giveBack(key: string): void
}

export interface TokenBucketOptions {
  readonly perSecond: number
  readonly burst: number
  readonly now: () => Date
  readonly keysMax?: number
}

interface Bucket {
  tokens: number
  filledAtMs: number
}

const KEYS_MAX = 100_000

export function createTokenBuckets(options: TokenBucketOptions): TokenBuckets {
  const { perSecond, burst, now, keysMax = KEYS_MAX } = options
  const buckets = new Map<string, Bucket>()
  const perMs = perSecond / 1000

  const fill = (bucket: Bucket, nowMs: number): void => {
    // A clock that went back gives nothing, and takes nothing away.
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
    bucket.tokens = Math.min(burst, bucket.tokens + elapsedMs * perMs)
    bucket.filledAtMs = nowMs
  }
  const forgetFull = (nowMs: number): void => {
    for (const [key, bucket] of buckets) {
      fill(bucket, nowMs)
      if (bucket.tokens >= burst) buckets.delete(key)
    }
    // Still too many: the oldest go, which favours them, never the flood of new ones.
    for (const key of buckets.keys()) {
      if (buckets.size < keysMax) break
      buckets.delete(key)
    }
  }
  const bucketOf = (key: string): Bucket => {
    const nowMs = now().getTime()
    const known = buckets.get(key)
    if (known !== undefined) {
      fill(known, nowMs)
      return known
    }
    if (buckets.size >= keysMax) forgetFull(nowMs)
    const bucket = { tokens: burst, filledAtMs: nowMs }
    buckets.set(key, bucket)
    return bucket
  }
  const waitMsOf = ({ tokens }: Bucket): number =>
    tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perMs)
  const isUnlimited = !Number.isFinite(perSecond)
  return {
    take: (key) => {
      if (isUnlimited) return 0
      const bucket = bucketOf(key)
      const waitMs = waitMsOf(bucket)
      if (waitMs === 0) bucket.tokens -= 1
      return waitMs
    },
    waitMs: (key) => (isUnlimited || !buckets.has(key) ? 0 : waitMsOf(bucketOf(key))),
    giveBack: (key) => {
      const bucket = buckets.get(key)
      if (bucket !== undefined) bucket.tokens = Math.min(burst, bucket.tokens + 1)
    },
  }
}
