const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/**
 * The time that a text of RFC 3339 (5.6) names, to the millisecond, or undefined when it is not one. Date alone would take `1`
 * for a month of 2001, the 30th of February for the 2nd of March, and a time without a zone for the time of this machine.
 */
export function parseInstant(text: string): Date | undefined {
  const [, day] = DATE_TIME.exec(text) ?? []
  if (day === undefined || !isDay(day)) return undefined
  return new Date(text.toUpperCase())
}

function isDay(day: string): boolean {
  const midnight = new Date(day)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}

/** Undefined when nothing of them ever was. */
export function latestOf(instants: readonly (Date | null | undefined)[]): Date | undefined {
  let latest: Date | undefined
  for (const at of instants) if (at && (latest === undefined || at > latest)) latest = at
  return latest
}
