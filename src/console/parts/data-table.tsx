// A table of any length, of which some forty rows are in the document: those on the screen and a few around them.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren, JSX } from 'preact'
import { here, setQuery } from '../frame/router.ts'
import { formatCount } from './time.tsx'

export interface Column<Row> {
  readonly name: string
  readonly label: string
  readonly cell: (row: Row) => ComponentChildren
  /** The order that a click on its heading asks the hub for. */
  readonly sort?: string
  /** Of the width, in percent. */
  readonly share?: number
  /** The same where there is little room. */
  readonly narrowShare?: number
  /** Left out where there is little room. */
  readonly isWideOnly?: boolean
}

interface DataTableProperties<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** How many there are at the hub; undefined while it does not say. */
  readonly total: number | undefined
  /** More rows follow those that are here. */
  readonly hasMore: boolean
  /** Where a row leads to. */
  readonly hrefOf?: (row: Row) => string
  /** The one that is open beside the table. */
  readonly isCurrent?: (row: Row) => boolean
  readonly onLook: (first: number, last: number) => void
  readonly onEnd: () => void
}

const ROW_PX = 45
const NARROW_ROW_PX = 62
const AROUND_ROWS = 12

export function DataTable<Row extends { readonly id: string }>({
  label,
  columns,
  rows,
  total,
  hasMore,
  hrefOf,
  isCurrent,
  onLook,
  onEnd,
}: DataTableProperties<Row>): JSX.Element {
  const table = useRef<HTMLTableElement>(null)
  const { first, last, rowPx } = useWindow(table, rows.length)
  const shown = columns.filter(({ isWideOnly }) => isWideOnly !== true || rowPx === ROW_PX)
  useEffect(() => {
    onLook(first, last)
    if (last >= rows.length) onEnd()
  }, [first, last, rows.length])
  const sorted = here.value.query['sort']
  return (
    <table
      ref={table}
      class="data"
      aria-label={label}
      aria-rowcount={rowCountOf(rows.length, total, hasMore)}
    >
      <thead>
        <tr aria-rowindex={1}>
          {shown.map(({ name, label: heading, sort, isWideOnly, ...column }) => (
            <th
              key={name}
              scope="col"
              style={widthOf(column, rowPx === NARROW_ROW_PX)}
              class={isWideOnly === true ? 'wide' : undefined}
              aria-sort={sort !== undefined && sort === sorted ? 'ascending' : undefined}
            >
              {sort === undefined ? (
                heading
              ) : (
                <button type="button" onClick={() => setQuery({ sort })}>
                  {heading}
                </button>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Room rows={first} rowPx={rowPx} columns={shown.length} />
        {rows.slice(first, last).map((row, at) => (
          <tr
            key={row.id}
            aria-rowindex={first + at + 2}
            aria-current={isCurrent?.(row) === true ? 'true' : undefined}
          >
            {shown.map(({ name, cell, isWideOnly }, column) => (
              <td key={name} class={isWideOnly === true ? 'wide' : undefined}>
                {column === 0 && hrefOf !== undefined ? (
                  <a class="whole-row" href={hrefOf(row)}>
                    {cell(row)}
                  </a>
                ) : (
                  cell(row)
                )}
              </td>
            ))}
          </tr>
        ))}
        <Room rows={rows.length - last} rowPx={rowPx} columns={shown.length} />
      </tbody>
    </table>
  )
}

function widthOf(
  { share, narrowShare = share }: Pick<Column<never>, 'share' | 'narrowShare'>,
  isNarrow: boolean,
): { readonly width: string } | undefined {
  const width = isNarrow ? narrowShare : share
  return width === undefined ? undefined : { width: `${width}%` }
}

/** With the heading; -1 as ARIA has it where nobody knows. */
function rowCountOf(known: number, total: number | undefined, hasMore: boolean): number {
  return total === undefined && hasMore ? -1 : (total ?? known) + 1
}

/** In place of rows that are not in the document. */
function Room({
  rows,
  rowPx,
  columns,
}: {
  readonly rows: number
  readonly rowPx: number
  readonly columns: number
}): JSX.Element | null {
  if (rows <= 0) return null
  return (
    <tr class="room" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${rows * rowPx}px` }} />
    </tr>
  )
}

export function CountLine({
  shown,
  total,
  words,
}: {
  readonly shown: number
  readonly total: number | undefined
  readonly words: (shown: string, total: string) => string
}): JSX.Element {
  return (
    <span>
      {total === undefined ? formatCount(shown) : words(formatCount(shown), formatCount(total))}
    </span>
  )
}

/** Which rows are near the screen; the page scrolls, not the table. */
function useWindow(
  table: { readonly current: HTMLTableElement | null },
  count: number,
): { readonly first: number; readonly last: number; readonly rowPx: number } {
  const [top, setTop] = useState(0)
  const rowPx = matchMedia('(max-width: 860px)').matches ? NARROW_ROW_PX : ROW_PX
  useEffect(() => {
    let frame = 0
    const look = (): void => {
      frame = 0
      const above = table.current?.getBoundingClientRect().top ?? 0
      // In steps: a scroll by a few pixels draws nothing.
      setTop(Math.floor(Math.max(0, -above) / (rowPx * 4)) * 4)
    }
    const schedule = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look)
    }
    addEventListener('scroll', schedule, { passive: true })
    addEventListener('resize', schedule, { passive: true })
    look()
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('scroll', schedule)
      removeEventListener('resize', schedule)
    }
  }, [rowPx, count === 0])
  const onScreen = Math.ceil(innerHeight / rowPx)
  const first = Math.max(0, Math.min(top - AROUND_ROWS, count))
  return { first, last: Math.min(count, top + onScreen + AROUND_ROWS), rowPx }
}
