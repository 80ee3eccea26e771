// A long list with its heading: rows a page at a time, what is new, and what to do while it is empty.

import type { ComponentChildren, JSX } from 'preact'
import type { Pages } from '../api/pages.ts'
import { words } from '../words/words.ts'
import { Failure, Notice } from './answer.tsx'
import { type Column, CountLine, DataTable } from './data-table.tsx'

interface ListCardProperties<Row> {
  readonly title: string
  readonly wire?: string
  readonly pages: Pages<Row>
  readonly columns: readonly Column<Row>[]
  readonly hrefOf?: (row: Row) => string
  /** What comes here. */
  readonly empty: string
  /** Beside the heading: what can be begun here. */
  readonly acts?: ComponentChildren
  /** Above the rows: filters. */
  readonly children?: ComponentChildren
}

export function ListCard<Row extends { readonly id: string }>({
  title,
  wire,
  pages,
  columns,
  hrefOf,
  empty,
  acts,
  children,
}: ListCardProperties<Row>): JSX.Element {
  const { frame } = words()
  const { rows, total, isLoading, error, arrived } = pages
  const isEmpty = rows.length === 0 && !isLoading && error === undefined
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {wire !== undefined && <span class="wire">{wire}</span>}
        <span class="grow" />
        {arrived > 0 && (
          <button type="button" class="button small" onClick={pages.reload}>
            {frame.arrived(arrived)}
          </button>
        )}
        {acts}
      </header>
      {children}
      {error !== undefined && <Failure error={error} />}
      {rows.length > 0 && (
        <DataTable
          label={title}
          columns={columns}
          rows={rows}
          total={total}
          hasMore={pages.hasMore}
          {...(hrefOf !== undefined && { hrefOf })}
          onLook={pages.look}
          onEnd={pages.more}
        />
      )}
      {isEmpty && <Notice title={frame.empty} hint={empty} />}
      {rows.length > 0 && (
        <div class="foot">
          <CountLine shown={rows.length} total={total} words={frame.rows} />
        </div>
      )}
    </section>
  )
}
