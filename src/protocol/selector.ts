// Selectors: which hosts, by their labels, roles and names. `role=web,env in (prod,stage),!canary` matches a host that all of
// its terms match. Kubernetes' selectors by sets and by equality, with bounds. docs/protocol.md LBL-5.

import { isBuiltIn, isReported, type Labels, findKeyFault, findValueFault } from './labels.ts'

export interface Selector {
  /** At least one; all of them have to match. */
  readonly terms: readonly SelectorTerm[]
}

export interface SelectorTerm {
  readonly key: string
  /** Any of these; undefined for whatever value there is. */
  readonly values: readonly string[] | undefined
  /** It matches the hosts that the same term without this does not match, also those that lack the key. */
  readonly isNegated: boolean
}

/** What a selector looks at. */
export interface SelectableHost {
  readonly hostname: string
  readonly role: string
  readonly labels: Labels
}

export interface SelectorFault {
  /** Of the character that is wrong, from 1 on. */
  readonly column: number
  readonly message: string
}

export type ParsedSelector =
  | { readonly ok: true; readonly selector: Selector }
  | ({ readonly ok: false } & SelectorFault)

export const SELECTOR_CHARACTERS_MAX = 1024
export const SELECTOR_TERMS_MAX = 16
export const SELECTOR_VALUES_MAX = 64

/** A role may be of other characters too: then `--role` names it, and no selector. */
const BUILT_IN_CHARACTERS_MAX = { name: 253, role: 128 } as const

const SPACE = /[ \t]*/y
const WORD = /[A-Za-z0-9._-]*/y
const OPERATOR = /==|!=|=|(?:notin|in)(?![A-Za-z0-9._-])/y

class Fault extends Error {
  readonly column: number
  constructor(index: number, message: string) {
    super(message)
    this.column = index + 1
  }
}

export function parseSelector(text: string): ParsedSelector {
  try {
    return { ok: true, selector: { terms: new SelectorReader(text).readTerms() } }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { ok: false, column: error.column, message: error.message }
  }
}

/** Goes through the text once, from left to right. */
class SelectorReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    if (text.length > SELECTOR_CHARACTERS_MAX) {
      const most = `a selector has at most ${SELECTOR_CHARACTERS_MAX} characters`
      throw new Fault(SELECTOR_CHARACTERS_MAX, most)
    }
    this.#text = text
  }

  readTerms(): SelectorTerm[] {
    const terms: SelectorTerm[] = []
    do {
      this.#skipSpace()
      if (terms.length === SELECTOR_TERMS_MAX) {
        throw this.#fault(`a selector has at most ${SELECTOR_TERMS_MAX} terms`)
      }
      terms.push(this.#readTerm())
      this.#skipSpace()
    } while (this.#take(','))
    if (this.#at < this.#text.length)
      throw this.#fault(`${this.#found()} where a comma or the end belongs`)
    return terms
  }

  #readTerm(): SelectorTerm {
    const isAbsent = this.#take('!')
    this.#skipSpace()
    const key = this.#readKey()
    if (isAbsent) return { key, values: undefined, isNegated: true }
    this.#skipSpace()
    const operatorAt = this.#at
    const operator = this.#match(OPERATOR)
    switch (operator) {
      case '':
        return { key, values: undefined, isNegated: false }
      case 'in':
      case 'notin':
        return { key, values: this.#readSet(key, operator), isNegated: operator === 'notin' }
      default:
        this.#skipSpace()
        if (isBuiltIn(key) && this.#isAtEnd()) {
          throw new Fault(
            operatorAt + operator.length,
            `a value is missing after ${key}${operator}`,
          )
        }
        return { key, values: [this.#readValue(key)], isNegated: operator === '!=' }
    }
  }

  #readKey(): string {
    const start = this.#at
    const key = this.#match(WORD)
    if (key === '') throw this.#fault(`${this.#found()} where a key belongs`)
    const fault = findKeyFault(key)
    if (fault !== undefined) throw new Fault(start, fault)
    return key
  }

  #readSet(key: string, operator: string): string[] {
    this.#skipSpace()
    if (!this.#take('(')) throw this.#fault(`${this.#found()} where ( belongs, after ${operator}`)
    const values: string[] = []
    do {
      this.#skipSpace()
      if (values.length === SELECTOR_VALUES_MAX) {
        throw this.#fault(`a set has at most ${SELECTOR_VALUES_MAX} values`)
      }
      const start = this.#at
      const value = this.#readValue(key)
      if (value === '') throw new Fault(start, `${this.#found()} where a value belongs`)
      values.push(value)
      this.#skipSpace()
    } while (this.#take(','))
    if (!this.#take(')')) throw this.#fault(`${this.#found()} where , or ) belongs`)
    return [...new Set(values)]
  }

  /** The empty value of `key=`, where nothing stands that could be one. */
  #readValue(key: string): string {
    const start = this.#at
    const value = this.#match(WORD)
    const fault = isBuiltIn(key)
      ? value.length > BUILT_IN_CHARACTERS_MAX[key] &&
        `no ${key} is longer than ${BUILT_IN_CHARACTERS_MAX[key]} characters`
      : findValueFault(value)
    if (fault) throw new Fault(start, fault)
    return value
  }

  #skipSpace(): void {
    this.#match(SPACE)
  }

  #take(character: string): boolean {
    const isThere = this.#text[this.#at] === character
    if (isThere) this.#at += 1
    return isThere
  }

  /** What the expression, which is sticky, matches from here on; empty when it matches nothing. */
  #match(expression: RegExp): string {
    expression.lastIndex = this.#at
    const [found = ''] = expression.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }

  #isAtEnd(): boolean {
    return this.#at >= this.#text.length || this.#text[this.#at] === ','
  }

  #found(): string {
    const character = this.#text.codePointAt(this.#at)
    return character === undefined ? 'the end' : JSON.stringify(String.fromCodePoint(character))
  }

  #fault(message: string): Fault {
    return new Fault(this.#at, message)
  }
}

export function matchesSelector({ terms }: Selector, host: SelectableHost): boolean {
  return terms.every(({ key, values, isNegated }) => {
    const value = valueOf(host, key)
    const isMatch = value !== undefined && (values === undefined || values.includes(value))
    return isMatch !== isNegated
  })
}

function valueOf({ hostname, role, labels }: SelectableHost, key: string): string | undefined {
  if (key === 'name') return hostname
  if (key === 'role') return role
  return labels.get(key)
}

/** The one text of a selector that means this, as it is stored and shown. */
export function formatSelector({ terms }: Selector): string {
  return terms.map(formatTerm).join(',')
}

function formatTerm({ key, values, isNegated }: SelectorTerm): string {
  if (values === undefined) return isNegated ? `!${key}` : key
  const [only = ''] = values
  if (values.length === 1) return `${key}${isNegated ? '!=' : '='}${only}`
  return `${key} ${isNegated ? 'notin' : 'in'} (${values.join(',')})`
}

/** What both match; undefined matches everything. */
export function bothOf(
  one: Selector | undefined,
  other: Selector | undefined,
): Selector | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return { terms: [...one.terms, ...other.terms] }
}

/** The labels that it looks at. */
export function labelKeysOf({ terms }: Selector): string[] {
  return [...new Set(terms.map(({ key }) => key).filter((key) => !isBuiltIn(key)))]
}

/** The first key that only agents say: no selector of what decides may have one. docs/protocol.md LBL-7. */
export function findReportedKey({ terms }: Selector): string | undefined {
  return terms.find(({ key }) => isReported(key))?.key
}
