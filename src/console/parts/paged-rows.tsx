// The rows of a long list with what stands around them: a failure, what to do while there are none, and how many there are.

import type { ComponentChildren, JSX } from 'preact'
import type { Pages } from '../api/pages.ts'
import { words } from '../words/words.ts'
import { Failure } from './answer.tsx'
import { type Column, CountLine, DataTable } from './data-table.tsx'

export interface PagedRowsProperties<Row> {
  /** Of the table, for who does not see it. */
  readonly label: string
  readonly pages: Pages<Row>
  readonly columns: readonly Column<Row>[]
  readonly hrefOf?: ((row: Row) => string) | undefined
  /** In the place of rows. */
  readonly empty: ComponentChildren
}

export function PagedRows<Row extends { readonly id: string }>({
  label,
  pages,
  columns,
  hrefOf,
  empty,
}: PagedRowsProperties<Row>): JSX.Element {
  const { frame } = words()
  const { rows, total, hasMore, isLoading, error } = pages
  return (
    <>
      {error !== undefined && (
        <Failure error={error} asksAgain={rows.length > 0 ? 'shown' : 'empty'} />
      )}
      {rows.length > 0 && (
        <>
          <DataTable
            label={label}
            columns={columns}
            rows={rows}
            total={total}
            hasMore={hasMore}
            {...(hrefOf !== undefined && { hrefOf })}
            onLook={pages.look}
            onEnd={pages.more}
          />
          <div class="foot">
            <CountLine shown={rows.length} total={total} words={frame.rows} />
          </div>
        </>
      )}
      {rows.length === 0 && !isLoading && error === undefined && empty}
    </>
  )
}

/** Rows that would move others come when somebody asks for them. */
export function ArrivedButton({
  pages: { arrived, reload },
}: {
  readonly pages: Pick<Pages<never>, 'arrived' | 'reload'>
}): JSX.Element | null {
  if (arrived === 0) return null
  return (
    <button type="button" class="button small" onClick={reload}>
      {words().frame.arrived(arrived)}
    </button>
  )
}
