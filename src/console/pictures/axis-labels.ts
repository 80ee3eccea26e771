// Which marks of an axis get a label, and what it says: no label covers another one or leaves the picture, and a day is said once. Pure.

export interface AxisMark {
  readonly ms: number
  readonly x: number
  readonly day: string
  readonly clock: string
  readonly withDay: string
}

export interface AxisLabel {
  readonly ms: number
  /** Of its middle. */
  readonly x: number
  readonly text: string
}

/** Of the widest letters that a time has, in the text of a picture. */
const LETTER_PX = 6.4
const GAP_PX = 6

export function widthOfText(text: string): number {
  return text.length * LETTER_PX
}

export function placeLabels(
  marks: readonly AxisMark[],
  room: { readonly left: number; readonly right: number; readonly today: string },
): AxisLabel[] {
  const labels: (AxisLabel & { readonly isNewDay: boolean })[] = []
  let told = room.today
  for (const { ms, x: markX, day, clock, withDay } of marks) {
    const isNewDay = day !== told
    const text = isNewDay ? withDay : clock
    const half = widthOfText(text) / 2
    const x = Math.max(room.left + half, Math.min(room.right - half, markX))
    const isFree = (): boolean => {
      const last = labels.at(-1)
      return last === undefined || last.x + widthOfText(last.text) / 2 + GAP_PX <= x - half
    }
    // Which day it is matters more than one more hour of the day before.
    if (isNewDay && !isFree() && labels.at(-1)?.isNewDay === false) labels.pop()
    if (!isFree()) continue
    labels.push({ ms, x, text, isNewDay })
    told = day
  }
  return labels.map(({ ms, x, text }) => ({ ms, x, text }))
}
