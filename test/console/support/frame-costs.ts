// What the frames of a page cost its main thread, as Chromium's trace has it: in CPU time, which another program on the same core does not
// change, and beside it how long they were.

import { invariant } from '../../../src/platform/errors.ts'
import type { Browser, Page } from 'playwright-core'

export interface FrameCosts {
  /** Of the main thread, from the end of the frame before it. */
  readonly cpuMs: readonly number[]
  readonly wallMs: readonly number[]
}

const FRAMES = 240

/** Scrolls by so many pixels a frame, and answers how long each frame was. */
const scrollBy = (px: number): string => `new Promise((resolve) => {
  const frames = []
  let before = performance.now()
  const step = (at) => {
    frames.push(at - before)
    before = at
    scrollBy(0, ${px})
    if (frames.length === ${FRAMES}) resolve(frames.slice(1))
    else requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

export async function measureScroll(
  browser: Browser,
  page: Page,
  pxOfFrame: number,
): Promise<FrameCosts> {
  await browser.startTracing(page, { categories: ['-*', ...CATEGORIES] })
  const wallMs = await page.evaluate<number[]>(scrollBy(pxOfFrame))
  const trace = JSON.parse(String(await browser.stopTracing())) as {
    readonly traceEvents: readonly TraceEvent[]
  }
  return { wallMs, cpuMs: cpuOfFrames(trace.traceEvents) }
}

const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel']

/** Times are in microseconds; `tdur` is what the thread spent. */
interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly ph: string
  readonly ts: number
  readonly dur?: number
  readonly tdur?: number
}

/** The task in which a frame's callbacks run also styles, lays out and paints it: the frame ends with that task. */
function cpuOfFrames(events: readonly TraceEvent[]): number[] {
  const callback = events.find(({ name }) => name === 'FireAnimationFrame')
  invariant(callback !== undefined, 'the trace has frames')
  const ofThread = events
    .filter(({ pid, tid, ph }) => pid === callback.pid && tid === callback.tid && ph === 'X')
    .toSorted((a, b) => a.ts - b.ts)
  const callbacks = ofThread.filter(({ name }) => name === callback.name)
  const frames: number[] = []
  let spent = 0
  let next = 0
  for (const { name, ts, dur = 0, tdur = 0 } of ofThread) {
    if (name !== 'RunTask') continue
    spent += tdur
    const begun = next
    while ((callbacks[next]?.ts ?? Infinity) < ts + dur) next += 1
    if (next === begun) continue
    frames.push(spent / 1000)
    spent = 0
  }
  // Before the first one everything else is gathered.
  return frames.slice(1)
}
