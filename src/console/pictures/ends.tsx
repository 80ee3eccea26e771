// When certificates end: above the axis those in use, by state; below it the renewals that are expected. A bar leads to the certificates
// that end until then.

import type { JSX } from 'preact'
import { now } from '../api/clock.ts'
import { hrefOf } from '../frame/router.ts'
import type { AdminFleetSummary } from '../../protocol/admin/fleet-summary.ts'
import { describeDuration } from '../parts/durations.ts'
import { dayLabel, describeSpan, describeTime, formatCount, zoneOffsetMs } from '../parts/time.tsx'
import { shortenHostname } from '../parts/shorten-hostname.ts'
import { words } from '../words/words.ts'
import { widthOfText } from './axis-labels.ts'
import { findWaves, hoursBetweenMarks, listWholeHours, ticksUpTo } from './ends-scale.ts'

const STATES = ['expired', 'atrasado', 'renewing', 'fresh'] as const
const COLOURS = {
  expired: 'var(--bad-fill)',
  atrasado: 'var(--late-fill)',
  renewing: 'var(--due-fill)',
  fresh: 'var(--fresh)',
} as const
const HEIGHT = 244
const AXIS_Y = 174
const TOP_Y = 34
const BELOW = { top: 200, height: 36 }
const LATE_NAMES = 3
const LATE_NAMES_X = 250
/** The word `now` has room. */
const NOW_PX = 50
const GAP_PX = 8

type Ends = AdminFleetSummary['certificados']
type Bucket = Ends['buckets'][number]

export function EndsPicture({
  summary,
  isNarrow,
}: {
  readonly summary: AdminFleetSummary
  readonly isNarrow: boolean
}): JSX.Element {
  const { overview } = words()
  const { certificados: ends } = summary
  const width = isNarrow ? 334 : 1112
  const left = isNarrow ? 4 : 40
  const { buckets, bucket_seconds: bucketSeconds, from } = ends
  const fromMs = Date.parse(from)
  const step = (width - left - 8) / buckets.length
  const sums = buckets.map(sumOf)
  const most = Math.max(1, ...sums)
  const mostRenewals = Math.max(1, ...buckets.map(({ renewals }) => renewals))
  const y = (count: number): number => AXIS_Y - (count / most) * (AXIS_Y - TOP_Y)
  const xAt = (ms: number): number => left + ((ms - fromMs) / (bucketSeconds * 1000)) * step
  const late = summary.atrasados.first.slice(0, LATE_NAMES)
  const horizonHours = Math.floor((buckets.length * bucketSeconds) / 3600)
  // Names of late hosts stand where the next hours are.
  const waves = isNarrow
    ? []
    : findWaves(sums).filter(({ first }) => late.length === 0 || left + first * step > LATE_NAMES_X)
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${HEIGHT}`}>
      <g role="img" aria-label={overview.endsTitle(formatCount(most))}>
        {!isNarrow &&
          ticksUpTo(most).map((tick) => (
            <g key={tick}>
              <path class="gridline" d={`M${left} ${y(tick)}H${width - 8}`} />
              <text x={left - 8} y={y(tick) + 4} text-anchor="end">
                {formatCount(tick)}
              </text>
            </g>
          ))}
        {late.length > 0 && (
          <rect
            class="late-span"
            x={left}
            y={14}
            width={Math.max(0, xAt(Date.parse(late.at(-1)?.not_after ?? from)) - left)}
            height={AXIS_Y - 14}
          />
        )}
        {buckets.flatMap((bucket, at) =>
          stackOf(bucket).map(({ state, below, count }) => (
            <rect
              key={`${at} ${state}`}
              x={left + at * step + step * 0.08}
              y={y(below + count)}
              width={step * 0.84}
              height={Math.max(1, y(below) - y(below + count))}
              style={{ fill: COLOURS[state] }}
            />
          )),
        )}
        <path class="axis-line" d={`M${left} ${AXIS_Y}H${width - 8}`} />
        <Marks
          {...{ fromMs, xAt, horizonHours, isNarrow }}
          endMs={fromMs + buckets.length * bucketSeconds * 1000}
        />
        {waves.map(({ first, last, count }) => {
          const [x1, x2] = [left + first * step, left + (last + 1) * step]
          const top = Math.max(24, Math.min(...sums.slice(first, last + 1).map(y)) - 8)
          return (
            <g key={first}>
              <path class="bracket" d={`M${x1} ${top + 6}V${top}H${x2}V${top + 6}`} />
              <text class="strong" x={(x1 + x2) / 2} y={top - 6} text-anchor="middle">
                {overview.wave(
                  formatCount(count),
                  describeSpan(
                    fromMs + first * bucketSeconds * 1000,
                    fromMs + (last + 1) * bucketSeconds * 1000,
                  ),
                )}
              </text>
            </g>
          )
        })}
        {late.map(({ agente_id: id, hostname, not_after: end }, at) => {
          const x = Math.max(left + 4, xAt(Date.parse(end)))
          return (
            <g key={id}>
              <path class="late-stem" d={`M${x} ${AXIS_Y}V${18 + at * 17}`} />
              <circle class="late-head" cx={x} cy={18 + at * 17} r="3.5" />
              <text x={x + 9} y={22 + at * 17}>
                <tspan class="late-word">
                  {describeDuration(Date.parse(end) - now.value, words().times)}
                </tspan>
                {!isNarrow && (
                  <tspan dx="6" class="mid">
                    {shortenHostname(hostname)}
                  </tspan>
                )}
              </text>
            </g>
          )
        })}
        {buckets.map(({ renewals }, at) =>
          renewals === 0 ? null : (
            <rect
              key={at}
              class="renewals"
              x={left + at * step + step * 0.08}
              y={BELOW.top}
              width={step * 0.84}
              height={Math.max(1, (renewals / mostRenewals) * BELOW.height)}
            />
          ),
        )}
        {!isNarrow && (
          <text class="mid" x={width - 8} y={HEIGHT - 4} text-anchor="end">
            {overview.renewalsExpected(perMinute(mostRenewals, bucketSeconds))}
          </text>
        )}
        {!isNarrow && ends.later > 0 && (
          <text x={width - 8} y={TOP_Y - 12} text-anchor="end">
            {overview.later(formatCount(ends.later))}
          </text>
        )}
      </g>
      {/* For a pointer, and over the picture: a picture holds no links for who does not see it, and the table has the same ones. */}
      <g aria-hidden="true">
        {buckets.map((_bucket, at) => (
          <a
            key={at}
            href={hrefOf('/certificates', bucketQuery(fromMs, bucketSeconds, at))}
            tabindex={-1}
          >
            <title>
              {overview.bucket(
                describeTime(new Date(fromMs + at * bucketSeconds * 1000).toISOString()),
                formatCount(sums[at] ?? 0),
              )}
            </title>
            <rect class="hit" x={left + at * step} y={TOP_Y} width={step} height={AXIS_Y - TOP_Y} />
          </a>
        ))}
      </g>
    </svg>
  )
}

function Marks({
  fromMs,
  endMs,
  xAt,
  horizonHours,
  isNarrow,
}: {
  readonly fromMs: number
  readonly endMs: number
  readonly xAt: (ms: number) => number
  readonly horizonHours: number
  readonly isNarrow: boolean
}): JSX.Element {
  const every = hoursBetweenMarks(horizonHours, isNarrow)
  const nowWord = words().times.now
  const nowEndX = xAt(fromMs) + widthOfText(nowWord) + GAP_PX
  const marks: JSX.Element[] = []
  for (const { ms, hour } of listWholeHours(fromMs, endMs, zoneOffsetMs)) {
    if (every >= 24 ? hour !== 0 : hour % every !== 0) continue
    if (xAt(ms) - xAt(fromMs) < NOW_PX) continue
    const label =
      hour === 0 ? dayLabel(new Date(ms).toISOString()) : `${String(hour).padStart(2, '0')}:00`
    marks.push(
      <text
        key={ms}
        x={Math.max(xAt(ms), nowEndX + widthOfText(label) / 2)}
        y={AXIS_Y + 17}
        text-anchor="middle"
        class={hour === 0 ? 'mid' : undefined}
      >
        {label}
      </text>,
    )
  }
  return (
    <>
      <text x={xAt(fromMs)} y={AXIS_Y + 17}>
        {nowWord}
      </text>
      {marks}
    </>
  )
}

/** The same as rows, for who does not see the picture: buckets that hold something. */
export function EndsTable({ ends }: { readonly ends: Ends }): JSX.Element {
  const { overview } = words()
  const fromMs = Date.parse(ends.from)
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{overview.from}</th>
          {STATES.map((state) => (
            <th key={state} scope="col">
              {overview.states[state]}
            </th>
          ))}
          <th scope="col">{overview.renewals}</th>
        </tr>
      </thead>
      <tbody>
        {ends.buckets.map((bucket, at) =>
          sumOf(bucket) + bucket.renewals === 0 ? null : (
            <tr key={at}>
              <td>
                <a
                  class="link"
                  href={hrefOf('/certificates', bucketQuery(fromMs, ends.bucket_seconds, at))}
                >
                  {describeTime(new Date(fromMs + at * ends.bucket_seconds * 1000).toISOString())}
                </a>
              </td>
              {STATES.map((state) => (
                <td key={state}>{formatCount(bucket[state])}</td>
              ))}
              <td>{formatCount(bucket.renewals)}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  )
}

function bucketQuery(
  fromMs: number,
  seconds: number,
  at: number,
): Readonly<Record<string, string>> {
  return { ends_before: new Date(fromMs + (at + 1) * seconds * 1000).toISOString() }
}

function sumOf(bucket: Bucket): number {
  return STATES.reduce((sum, state) => sum + bucket[state], 0)
}

function stackOf(bucket: Bucket): readonly {
  readonly state: (typeof STATES)[number]
  readonly below: number
  readonly count: number
}[] {
  let below = 0
  return STATES.flatMap((state) => {
    const count = bucket[state]
    if (count === 0) return []
    const part = { state, below, count }
    below += count
    return [part]
  })
}

function perMinute(renewals: number, bucketSeconds: number): string {
  return formatCount(Math.max(1, Math.round((renewals * 60) / bucketSeconds)))
}
