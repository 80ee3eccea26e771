// Durations and ages.

import type { Words } from '../words.ts'

export const times: Words['times'] = {
  second: 's',
  minute: 'min',
  hour: 'h',
  day: 'd',
  years: 'anos',
  now: 'agora',
  in: (duration) => `em ${duration}`,
  ago: (duration) => `há ${duration}`,
  utc: 'UTC',
}
