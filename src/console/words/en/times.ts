// Durations and ages.

export const times = {
  second: 's',
  minute: 'min',
  hour: 'h',
  day: 'd',
  years: 'years',
  now: 'now',
  in: (duration: string) => `in ${duration}`,
  ago: (duration: string) => `${duration} ago`,
  utc: 'UTC',
}
