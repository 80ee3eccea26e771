// A long list with its heading: rows a page at a time, what is new, and what to do while it is empty.

import type { ComponentChildren, JSX } from 'preact'
import type { Pages } from '../api/pages.ts'
import { words } from '../words/words.ts'
import { Notice } from './answer.tsx'
import { Command } from './command.tsx'
import type { Column } from './data-table.tsx'
import { ArrivedButton, PagedRows } from './paged-rows.tsx'

interface ListCardProperties<Row> {
  readonly title: string
  readonly wire?: string
  readonly pages: Pages<Row>
  readonly columns: readonly Column<Row>[]
  readonly hrefOf?: (row: Row) => string
  /** What comes here. */
  readonly empty: string
  /** Of `svc`, that brings the first one. */
  readonly emptyCommand?: string | undefined
  /** Beside the heading: what can be begun here. */
  readonly acts?: ComponentChildren
  /** Filters, in the place of the heading. */
  readonly children?: ComponentChildren
}

export function ListCard<Row extends { readonly id: string }>({
  title,
  wire,
  pages,
  columns,
  hrefOf,
  empty,
  emptyCommand,
  acts,
  children,
}: ListCardProperties<Row>): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      {children === undefined ? (
        <header>
          <h2>{title}</h2>
          {wire !== undefined && <span class="wire">{wire}</span>}
          <span class="grow" />
          <ArrivedButton pages={pages} />
          {acts}
        </header>
      ) : (
        <div class="filters">
          {children}
          <ArrivedButton pages={pages} />
        </div>
      )}
      <PagedRows
        label={title}
        pages={pages}
        columns={columns}
        hrefOf={hrefOf}
        empty={
          <Notice title={words().frame.empty} hint={empty}>
            {emptyCommand !== undefined && <Command text={emptyCommand} />}
          </Notice>
        }
      />
    </section>
  )
}
