// Which rows of a long table are near the screen; the page scrolls, not the table. Where the table stands is read when something around it
// changed its size, so that a scroll reads no layout.

import { useEffect, useRef, useState } from 'preact/hooks'

export interface RowWindow {
  readonly table: { current: HTMLTableElement | null }
  /** Of the rows that are to be in the document. */
  readonly first: number
  /** After the last one of them. */
  readonly last: number
}

const AROUND_ROWS = 12
/** A scroll by fewer rows draws nothing. */
const STEP_ROWS = 4

export function useRowWindow(count: number, rowPx: number): RowWindow {
  const table = useRef<HTMLTableElement>(null)
  const [top, setTop] = useState(0)
  const [onScreen, setOnScreen] = useState(() => Math.ceil(innerHeight / rowPx))
  useEffect(() => {
    let tablePx = 0
    const look = (): void => {
      const rows = Math.max(0, scrollY - tablePx) / rowPx
      setTop(Math.floor(rows / STEP_ROWS) * STEP_ROWS)
    }
    const measure = (): void => {
      tablePx = (table.current?.getBoundingClientRect().top ?? 0) + scrollY
      setOnScreen(Math.ceil(innerHeight / rowPx))
      look()
    }
    // What stands above the table moves it, and changes the height of the page.
    const sizes = new ResizeObserver(measure)
    sizes.observe(document.body)
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', measure, { passive: true })
    return () => {
      sizes.disconnect()
      removeEventListener('scroll', look)
      removeEventListener('resize', measure)
    }
  }, [rowPx])
  return {
    table,
    first: Math.max(0, Math.min(top - AROUND_ROWS, count)),
    last: Math.min(count, top + onScreen + AROUND_ROWS),
  }
}
