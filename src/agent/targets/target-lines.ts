// On which line of a target's TOML each key stands, which the TOML parser does not say.

import { parse } from 'smol-toml'

export interface TargetLines {
  /** Of a key outside any `[[file]]`; undefined when it is not there. */
  lineOf(key: string): number | undefined
  /** Of a key in the `[[file]]` of that index, else of the `[[file]]` itself. */
  lineInFile(index: number, key?: string): number | undefined
}

type KeyLines = Map<string, number>

const BYTE_ORDER_MARK = '\uFEFF'
// A string that spans lines may end in five quotes, two of which are its own.
const TOKEN =
  /"""(?:[^\\]|\\[^])*?"{3,5}|'''[^]*?'{3,5}|"(?:[^"\\]|\\.)*"|'[^']*'|#[^\n]*|[^"'#[\]{}=\n]+|[^]/g

/** For a text that the TOML parser took. */
export function indexTargetLines(text: string): TargetLines {
  const top: KeyLines = new Map()
  const files: { line: number; keys: KeyLines }[] = []
  let table: KeyLines | undefined = top
  for (const { line, source } of statements(text)) {
    const [key] = Object.keys(parse(source))
    if (key === undefined) continue
    if (!source.startsWith('[')) {
      note(table, key, line)
    } else if (key === 'file' && source.startsWith('[[') && !hasSubtable(source)) {
      table = new Map()
      files.push({ line, keys: table })
      note(top, key, line)
    } else {
      // A table of its own: none is known, so what is in it is as unknown as its name.
      const last = files.at(-1)
      if (key === 'file' && last !== undefined) note(last.keys, subtableOf(source), line)
      else note(top, key, line)
      table = undefined
    }
  }
  return {
    lineOf: (key) => top.get(key),
    lineInFile: (index, key = '') =>
      files[index]?.keys.get(key) ?? files[index]?.line ?? top.get('file'),
  }
}

function note(table: KeyLines | undefined, key: string, line: number): void {
  if (table?.has(key) === false) table.set(key, line)
}

function subtableOf(header: string): string {
  const { file } = parse(header)
  const table: unknown = Array.isArray(file) ? file[0] : file
  return Object.keys(table as object)[0] ?? ''
}

function hasSubtable(header: string): boolean {
  return subtableOf(header) !== ''
}

interface Statement {
  readonly line: number
  /** A header, or a key with a value that stands in for its own. */
  readonly source: string
}

function* statements(text: string): Generator<Statement> {
  let line = 1
  let head = ''
  let headLine = 1
  let isInValue = false
  let depth = 0
  // The end of the text ends a statement as the end of a line does.
  const tokens = [...(text.replace(BYTE_ORDER_MARK, '').match(TOKEN) ?? []), '\n']
  for (const token of tokens) {
    if (token === '\n' && depth === 0) {
      // Trimmed: of a line end of two characters the first is still here.
      const key = head.trim()
      if (key !== '') yield { line: headLine, source: isInValue ? `${key}=0` : key }
      head = ''
      isInValue = false
    } else if (isInValue) {
      if (token === '[' || token === '{') depth += 1
      if (token === ']' || token === '}') depth -= 1
    } else if (token === '=') {
      isInValue = true
    } else if (!token.startsWith('#')) {
      if (head === '') headLine = line
      head += token
    }
    line += token.split('\n').length - 1
  }
}
