// Times as Go programs take them in JSON: an RFC 3339 instant, or a duration such as `1h30m`, `1.5h`, `-30s`.

export type GoTime =
  | { readonly kind: 'instant'; readonly at: Date }
  | { readonly kind: 'duration'; readonly durationMs: number }

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/
const DURATION = /^[+-]?(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/
const DURATION_PART = /(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g

/** The time, or undefined when the text is not one. */
export function parseGoTime(text: string): GoTime | undefined {
  if (INSTANT.test(text)) {
    const at = new Date(text)
    return Number.isNaN(at.getTime()) ? undefined : { kind: 'instant', at }
  }
  const durationMs = parseGoDurationMs(text)
  return durationMs === undefined ? undefined : { kind: 'duration', durationMs }
}

export function resolveGoTime(time: GoTime, base: Date): Date {
  return time.kind === 'instant' ? time.at : new Date(base.getTime() + time.durationMs)
}

function parseGoDurationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(DURATION_PART)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN)
  }
  if (!Number.isSafeInteger(Math.round(total))) return undefined
  return text.startsWith('-') ? -total : total
}
