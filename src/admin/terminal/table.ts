import { printable } from '../../platform/printable.ts'
import type { HeadingKey } from '../../protocol/heading-words.ts'
import { headingIn, type Language, stateIn } from '../../protocol/spoken-words.ts'

const ASCII = /^[\x20-\x7e]*$/
/** What a terminal gives two cells to: emoji, and the ranges that Unicode's East_Asian_Width calls wide or fullwidth. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}])/u
const INVISIBLE = /^[\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Default_Ignorable_Code_Point}]/u
const CHARACTERS = new Intl.Segmenter()

const GAP = '  '
const LAST_WIDTH_MIN = 12

/** A state, which a table shows in the reader's language. */
export class StateWord {
  /** As the wire has it. */
  readonly key: string
  constructor(key: string) {
    this.key = key
  }
}

export function stateWord(key: string): StateWord {
  return new StateWord(key)
}

export function yesOrNo(is: boolean): StateWord {
  return new StateWord(is ? 'yes' : 'no')
}

type PlainCell = string | number | null
export type Cell = PlainCell | StateWord

/** What each column shows of a row, in their order; the names are those of JSON, and headings in the reader's language. */
export type Columns<Row> = { readonly [key in HeadingKey]?: (row: Row) => Cell }

export function renderRows<Row>(
  language: Language,
  columns: Columns<Row>,
  rows: readonly Row[],
): string {
  return tableOf(language, columns).render(rows)
}

export function headingsOf(language: Language, keys: readonly string[]): string[] {
  return keys.map((key) => headingIn(language, key).toUpperCase())
}

/** A table that goes on: the first rows, with the header, say how wide its columns are. */
export function tableOf<Row>(
  language: Language,
  columns: Columns<Row>,
  widthMax?: number,
): {
  readonly render: (rows: readonly Row[]) => string
} {
  const cells = Object.values(columns)
  const textsOf = (row: Row): string[] => cells.map((cellOf) => renderCell(language, cellOf(row)))
  let widths: readonly number[] | undefined
  return {
    render: (rows) => {
      const lines = rows.map(textsOf)
      if (widths === undefined) {
        lines.unshift(headingsOf(language, Object.keys(columns)))
        widths = widthsOf(lines)
      }
      const lastMax = widthMax === undefined ? undefined : lastWidthOf(widths, widthMax)
      return renderLines(widths, lastMax === undefined ? lines : lines.map(cutLast(lastMax)))
    },
  }
}

/** What is left for the last column, which says least when it is cut; names and states are never cut. */
function lastWidthOf(widths: readonly number[], widthMax: number): number {
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  return Math.max(LAST_WIDTH_MIN, widthMax - others)
}

function cutLast(width: number): (texts: readonly string[]) => readonly string[] {
  return (texts) => {
    const text = texts.at(-1) ?? ''
    if (displayWidth(text) <= width) return texts
    let cut = ''
    for (const { segment } of CHARACTERS.segment(text)) {
      if (displayWidth(cut + segment) >= width) break
      cut += segment
    }
    return [...texts.slice(0, -1), `${cut}…`]
  }
}

/** One thing, a line a field. */
export function renderFields(language: Language, fields: Readonly<Record<string, Cell>>): string {
  const lines = Object.entries(fields).map(([key, cell]) => [
    labelIn(language, key),
    renderCell(language, cell),
  ])
  return renderLines(widthsOf(lines), lines)
}

/** A label may be a heading and a state: `entregas falhou`. */
function labelIn(language: Language, key: string): string {
  const heading = headingIn(language, key)
  const [first = '', ...states] = key.split(' ')
  if (heading !== key || states.length === 0) return heading
  return [headingIn(language, first), ...states.map((state) => stateIn(language, state))].join(' ')
}

/** A header and aligned columns of what is the same in every language. */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly PlainCell[])[],
): string {
  const lines = [head, ...rows].map((cells) => cells.map(renderPlain))
  return renderLines(widthsOf(lines), lines)
}

/** A line whose columns begin where those of other lines of these widths do; a cell that is wider moves what follows it. */
export function renderLine(widths: readonly number[], cells: readonly PlainCell[]): string {
  return padLine(widths, cells.map(renderPlain))
}

function padLine(widths: readonly number[], texts: readonly string[]): string {
  const padded = texts.map((text, column) => {
    return text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(text)))
  })
  return `${padded.join(GAP).trimEnd()}\n`
}

function widthsOf(lines: readonly (readonly string[])[]): number[] {
  const widths: number[] = []
  for (const texts of lines) {
    for (const [column, text] of texts.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(text))
    }
  }
  return widths
}

function renderLines(widths: readonly number[], lines: readonly (readonly string[])[]): string {
  return lines.map((texts) => padLine(widths, texts)).join('')
}

function renderCell(language: Language, cell: Cell): string {
  return renderPlain(cell instanceof StateWord ? stateIn(language, cell.key) : cell)
}

/** An absent value is `-`, so that every row has every column, for people and for awk. */
function renderPlain(cell: PlainCell): string {
  return cell === null || cell === '' ? '-' : printable(String(cell))
}

/** How many cells of a terminal a printable text takes. */
function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of CHARACTERS.segment(text)) {
    if (WIDE.test(segment)) width += 2
    else if (!INVISIBLE.test(segment)) width += 1
  }
  return width
}
