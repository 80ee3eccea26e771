// One table of a target's TOML, read key by key; the parser collects all faults, each with its line.

import type { TargetProblem } from './target.ts'

export interface TableContext {
  readonly source: string
  readonly problems: TargetProblem[]
  /** Of a key that is there, else of the table. */
  readonly lineOf: (key: string) => number | undefined
}

const TEXT_CHARACTERS_MAX = 4096

/** Each reader answers undefined where the key is missing or wrong. */
export class TableReader {
  readonly #table: Readonly<Record<string, unknown>>
  readonly #context: TableContext

  constructor(table: Readonly<Record<string, unknown>>, context: TableContext) {
    this.#table = table
    this.#context = context
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#table, key)
  }

  value(key: string): unknown {
    return this.has(key) ? this.#table[key] : undefined
  }

  text(key: string): string | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    if (typeof value !== 'string') return this.refuse(key, `${key} must be a string`)
    const reason = textRefusal(value)
    return reason === undefined ? value : this.refuse(key, `${key} ${reason}`)
  }

  /** One of the words given. */
  word<Word extends string>(key: string, words: readonly Word[]): Word | undefined {
    const text = this.text(key)
    if (text === undefined) return undefined
    const word = words.find((one) => one === text)
    return word ?? this.refuse(key, `${key} must be one of ${words.join(', ')}: ${quote(text)}`)
  }

  flag(key: string): boolean | undefined {
    const value = this.value(key)
    if (value === undefined || typeof value === 'boolean') return value
    return this.refuse(key, `${key} must be true or false`)
  }

  texts(key: string, countMax: number): readonly string[] | undefined {
    const value = this.value(key)
    if (value === undefined) return undefined
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      return this.refuse(key, `${key} must be a list of strings`)
    }
    if (value.length === 0) return this.refuse(key, `${key} is empty`)
    if (value.length > countMax) return this.refuse(key, `${key} has more than ${countMax} items`)
    const reason = value.map(textRefusal).find((one) => one !== undefined)
    return reason === undefined ? value : this.refuse(key, `an item of ${key} ${reason}`)
  }

  refuseUnknownKeys(known: readonly string[]): void {
    for (const key of Object.keys(this.#table)) {
      if (!known.includes(key)) this.refuse(key, `unknown key ${quote(key)}`)
    }
  }

  refuse(key: string, reason: string): undefined {
    const { source, problems, lineOf } = this.#context
    problems.push({ source, line: lineOf(key), reason })
  }
}

/** As it stands in a message: nothing in it can move a terminal's cursor, and it is not endless. */
export function quote(text: string): string {
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text
  return JSON.stringify(shown).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

function textRefusal(text: string): string | undefined {
  if (text.length > TEXT_CHARACTERS_MAX) return `is longer than ${TEXT_CHARACTERS_MAX} characters`
  return /\p{Cc}/u.test(text) ? 'has a control character' : undefined
}
