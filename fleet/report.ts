// What a step or a storm came to, in lines.

import type { Sample } from './driver.ts'
import { countOf, percentileMs } from './latencies.ts'

export function renderOperations({ latencies }: Sample): string {
  return Object.entries(latencies)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, each]) => {
      const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentileMs(each, share)?.toFixed(1))
      return `  ${name}: ${countOf(each)}, p50 ${p50} ms, p99 ${p99} ms, most ${most} ms\n`
    })
    .join('')
}

/** Most frequent first. */
export function renderFailures({ failures }: Sample): string {
  const lines = Object.entries(failures)
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind, count]) => `  error ${kind}: ${count}\n`)
  return lines.length === 0 ? '  no errors\n' : lines.join('')
}

export function renderVerdict(text: string, isReached: boolean): string {
  return `  ${isReached ? 'reached' : 'MISSED '} ${text}\n`
}
