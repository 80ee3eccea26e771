// A table of any length, of which some forty rows are in the document: those on the screen and a few around them. A scroll draws the rows
// that come, and leaves those that stay as they are. Each row is laid out for itself, which the layout of a table is not: so it has the
// roles of a table, and the style of a grid.

import { useEffect, useMemo } from 'preact/hooks'
import { Component, type ComponentChildren, type JSX } from 'preact'
import { here, setQuery } from '../frame/router.ts'
import { isNarrow } from './is-narrow.ts'
import { formatCount } from './time.tsx'
import { useRowWindow } from './use-row-window.ts'

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
/** The next page is asked for while so many rows are still below the screen. */
const AHEAD_ROWS = 100

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
  const rowPx = isNarrow() ? NARROW_ROW_PX : ROW_PX
  const { table, first, last } = useRowWindow(rows.length, rowPx)
  const shown = useMemo(
    () => columns.filter(({ isWideOnly }) => isWideOnly !== true || rowPx === ROW_PX),
    [columns, rowPx],
  )
  useEffect(() => {
    onLook(first, last)
    if (last + AHEAD_ROWS >= rows.length) onEnd()
  }, [first, last, rows.length])
  const sorted = here.value.query['sort']
  return (
    <table
      ref={table}
      class="data"
      role="table"
      style={{ '--columns': shown.map((column) => widthOf(column, rowPx)).join(' ') }}
      aria-label={label}
      aria-rowcount={rowCountOf(rows.length, total, hasMore)}
    >
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          {shown.map(({ name, label: heading, sort, isWideOnly }) => (
            <th
              key={name}
              role="columnheader"
              scope="col"
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
      <tbody role="rowgroup">
        <Room rows={first} rowPx={rowPx} />
        {rows.slice(first, last).map((row, at) => (
          <TableRow
            key={row.id}
            row={row}
            columns={shown}
            index={first + at + 2}
            href={hrefOf?.(row)}
            isCurrent={isCurrent?.(row) === true}
          />
        ))}
        <Room rows={rows.length - last} rowPx={rowPx} />
      </tbody>
    </table>
  )
}

interface TableRowProperties<Row> {
  readonly row: Row
  readonly columns: readonly Column<Row>[]
  readonly index: number
  readonly href: string | undefined
  readonly isCurrent: boolean
}

/** Drawn again when its own row, its place or the columns are others, or when a signal says so that a cell read. */
class TableRow<Row> extends Component<TableRowProperties<Row>> {
  override shouldComponentUpdate(next: TableRowProperties<Row>, state: unknown): boolean {
    const { row, columns, index, href, isCurrent } = this.props
    return (
      state !== this.state ||
      next.row !== row ||
      next.columns !== columns ||
      next.index !== index ||
      next.href !== href ||
      next.isCurrent !== isCurrent
    )
  }

  override render(): JSX.Element {
    const { row, columns, index, href, isCurrent } = this.props
    return (
      <tr role="row" aria-rowindex={index} aria-current={isCurrent ? 'true' : undefined}>
        {columns.map(({ name, cell, isWideOnly }, column) => (
          <td key={name} role="cell" class={isWideOnly === true ? 'wide' : undefined}>
            {column === 0 && href !== undefined ? (
              <a class="whole-row" href={href}>
                {cell(row)}
              </a>
            ) : (
              cell(row)
            )}
          </td>
        ))}
      </tr>
    )
  }
}

function widthOf(
  { share = 20, narrowShare = share }: Pick<Column<never>, 'share' | 'narrowShare'>,
  rowPx: number,
): string {
  return `minmax(0, ${rowPx === NARROW_ROW_PX ? narrowShare : share}fr)`
}

/** With the heading; -1 as ARIA has it where nobody knows. */
function rowCountOf(known: number, total: number | undefined, hasMore: boolean): number {
  return total === undefined && hasMore ? -1 : (total ?? known) + 1
}

/** In place of rows that are not in the document. */
function Room({
  rows,
  rowPx,
}: {
  readonly rows: number
  readonly rowPx: number
}): JSX.Element | null {
  if (rows <= 0) return null
  return <tr class="room" aria-hidden="true" style={{ height: `${rows * rowPx}px` }} />
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
