// Instants in tables are milliseconds since 1970. What else a row holds was parsed on its way in, so brands are put back
// without another look.

export type Instant = number

export function toDate(instant: Instant | null): Date | null {
  return instant === null ? null : new Date(instant)
}

export function fromDate(date: Date | null): Instant | null {
  return date === null ? null : date.getTime()
}
