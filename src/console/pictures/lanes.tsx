// One host in time: its connection, its identity, each delivery; numbered marks are the numbered sentences beside it.

import type { JSX } from 'preact'
import { describeMark, describeTime } from '../parts/time.tsx'
import { laneScale, type LaneScale, type PastSpan } from '../screens/host/lane-scale.ts'
import { words } from '../words/words.ts'
import { placeLabels } from './axis-labels.ts'

export interface Lane {
  readonly key: string
  readonly label: string
  readonly kind: string
  /** Bars of what is in force. */
  readonly bars: readonly LaneBar[]
  readonly note?: string | undefined
}

export interface LaneBar {
  readonly fromMs: number
  readonly untilMs: number
  readonly tone: 'connected' | 'force' | 'renew' | 'bad'
  readonly text?: string | undefined
}

export interface LaneMark {
  readonly number: number
  readonly atMs: number
  readonly isBad: boolean
  readonly lane?: string | undefined
}

const LANE_PX = 42
/** Two rows of marks, and below them the word `now`. */
const TOP_PX = 72
const NOTE_PX = 160
/** A mark covers so much of a bar to each side. */
const MARK_PX = 12
/** Half of the room that the line of now takes of the axis. */
const NOW_PX = 26

export function LanesPicture({
  lanes,
  marks,
  nowMs,
  span,
  isNarrow,
  title,
}: {
  readonly lanes: readonly Lane[]
  readonly marks: readonly LaneMark[]
  readonly nowMs: number
  readonly span: PastSpan
  readonly isNarrow: boolean
  readonly title: string
}): JSX.Element {
  const { host } = words()
  const width = isNarrow ? 334 : 1112
  const scale = laneScale(span, nowMs, { left: isNarrow ? 0 : 132, right: width - 4 })
  const height = TOP_PX + lanes.length * LANE_PX + 28
  return (
    <svg class="chart lanes" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={title}>
      <rect
        class="to-come"
        x={scale.nowX}
        y={TOP_PX - 8}
        width={scale.right - scale.nowX}
        height={lanes.length * LANE_PX + 8}
      />
      {lanes.map((lane, at) => (
        <LaneRow
          key={lane.key}
          lane={lane}
          y={TOP_PX + at * LANE_PX}
          marks={marks.filter(({ lane: of }) => of === lane.key)}
          {...{ scale, isNarrow }}
        />
      ))}
      <path class="now-line" d={`M${scale.nowX} ${TOP_PX - 14}V${height - 24}`} />
      <text class="strong" x={scale.nowX} y={TOP_PX - 20} text-anchor="middle">
        {host.now} {describeTime(new Date(nowMs).toISOString())}
      </text>
      {placeLabels(
        scale.marks
          .map((ms) => ({ ms, x: scale.xAt(ms), ...describeMark(ms) }))
          .filter(({ x }) => Math.abs(x - scale.nowX) > NOW_PX),
        { left: 0, right: width, today: describeMark(nowMs).day },
      ).map(({ ms, x, text }) => (
        <text key={ms} class="axis-label" x={x} y={height - 6} text-anchor="middle">
          {text}
        </text>
      ))}
      {marks
        .filter(({ atMs }) => scale.isInside(atMs))
        .map((mark) => (
          <Mark key={mark.number} mark={mark} {...{ scale, lanes }} />
        ))}
    </svg>
  )
}

function LaneRow({
  lane,
  marks,
  y,
  scale,
  isNarrow,
}: {
  readonly lane: Lane
  /** Those that stand on it. */
  readonly marks: readonly LaneMark[]
  readonly y: number
  readonly scale: LaneScale
  readonly isNarrow: boolean
}): JSX.Element {
  const barY = y + (isNarrow ? 18 : 12)
  const last = lane.bars.at(-1)
  const noteX = Math.max(scale.nowX + 8, last === undefined ? 0 : scale.xAt(last.untilMs) + 8)
  const isMarked = (x: number): boolean =>
    marks.some(({ atMs }) => Math.abs(scale.xAt(atMs) - x) < MARK_PX)
  const hasRoom = noteX < scale.right - NOTE_PX
  return (
    <g>
      <text class="strong" x="0" y={y + (isNarrow ? 10 : 18)}>
        {lane.label}
      </text>
      {!isNarrow && (
        <text x="0" y={y + 32}>
          {lane.kind}
        </text>
      )}
      {lane.bars.map((bar) => {
        const [x1, x2] = [scale.xAt(bar.fromMs), scale.xAt(bar.untilMs)]
        return (
          <g key={`${bar.tone} ${bar.fromMs}`}>
            <rect
              class={`lane-${bar.tone}`}
              x={x1}
              y={barY}
              width={Math.max(2, x2 - x1)}
              height="11"
              rx="2"
            />
            {bar.text !== undefined && x2 - x1 > 40 && (
              <text class="on-bar" x={x1 + (isMarked(x1) ? 14 : 6)} y={barY + 9}>
                {bar.text}
              </text>
            )}
          </g>
        )
      })}
      {lane.note !== undefined && !isNarrow && (
        <text
          class="mid"
          x={hasRoom ? noteX : scale.right}
          y={hasRoom ? barY + 10 : barY - 3}
          text-anchor={hasRoom ? 'start' : 'end'}
        >
          {lane.note}
        </text>
      )}
      <path class="gridline" d={`M0 ${y + LANE_PX - 4}H${scale.right}`} />
    </g>
  )
}

function Mark({
  mark,
  lanes,
  scale,
}: {
  readonly mark: LaneMark
  readonly lanes: readonly Lane[]
  readonly scale: LaneScale
}): JSX.Element {
  const at = lanes.findIndex(({ key }) => key === mark.lane)
  const x = scale.xAt(mark.atMs)
  const y = at === -1 ? 14 + (mark.number % 2) * 17 : TOP_PX + at * LANE_PX + 17
  return (
    <g class={mark.isBad ? 'mark is-bad' : 'mark'}>
      {at === -1 && <path d={`M${x} ${y + 8}V${TOP_PX + lanes.length * LANE_PX - 4}`} />}
      <circle cx={x} cy={y} r="8.5" />
      <text x={x} y={y + 4} text-anchor="middle">
        {mark.number}
      </text>
    </g>
  )
}
