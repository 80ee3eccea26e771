// The text of one file of a fleet, TOML or YAML: what it says, or what is wrong with it. Whatever the text is, it costs no more than
// its length: no nesting that overflows a stack, no alias that multiplies, no comparison of each key with each other.

import { parse as parseTomlText, TomlError } from 'smol-toml'
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  YAMLParseError,
} from 'yaml'

export type FleetForm = 'toml' | 'yaml'

export interface FleetText {
  readonly value: unknown
  /** Where something stands, where the form knows that; from 1 on. */
  lineOf(path: readonly (string | number)[]): number | undefined
}

/** What is wrong with a file as a whole. */
export class FleetTextFault extends Error {
  override name = 'FleetTextFault'
  readonly line: number | undefined
  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

/** A file of a fleet needs four levels. */
const NESTING_MAX = 16
const ALIASES_MAX = 100
/** A level of YAML is a node, and the pair that it stands in. */
const YAML_PATH_MAX = 2 * NESTING_MAX

export function parseFleetText(text: string, form: FleetForm): FleetText {
  return form === 'toml' ? parseToml(text) : parseYaml(text)
}

function parseToml(text: string): FleetText {
  try {
    const value = parseTomlText(text, { maxDepth: NESTING_MAX, unsafeKeyBehaviour: 'throw' })
    refuseDepth(value)
    return { value, lineOf: () => undefined }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [first = ''] = error.message.split('\n')
    throw new FleetTextFault(
      `is not TOML: ${first.replace('Invalid TOML document: ', '')}`,
      error.line,
    )
  }
}

/** The parser counts brackets: `a.b.c = 1` nests without any. Level by level, so that no depth is too much for it. */
function refuseDepth(value: unknown): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > NESTING_MAX) {
      throw new FleetTextFault(`is nested in more than ${NESTING_MAX} levels`)
    }
    level = level.flatMap((each): unknown[] =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    )
  }
}

function parseYaml(text: string): FleetText {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Each with each: `refuseRepeatedKeys` looks at each once.
    uniqueKeys: false,
    stringKeys: true,
    logLevel: 'error',
  })
  const lineAt = (offset: number | undefined): number | undefined =>
    offset === undefined ? undefined : lines.linePos(offset).line
  const [fault] = [...document.errors, ...document.warnings]
  if (fault !== undefined) {
    throw new FleetTextFault(`is not YAML: ${describe(fault)}`, lineAt(fault.pos[0]))
  }
  refuseExcess(document, (offset) => lineAt(offset))
  return {
    value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown,
    lineOf: (path) => {
      const last = path.at(-1)
      const parent: unknown =
        path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
      // A key stands where it stands; its value may begin in a later line.
      const key = isMap(parent)
        ? parent.items.map((item) => item.key).find((each) => isScalar(each) && each.value === last)
        : undefined
      const node: unknown = key ?? (path.length === 0 ? undefined : document.getIn(path, true))
      return isNode(node) ? lineAt(node.range?.[0]) : undefined
    },
  }
}

function refuseExcess(
  document: Document.Parsed,
  lineAt: (offset: number | undefined) => number | undefined,
): void {
  let aliases = 0
  visit(document, {
    Node: (_key, node, path) => {
      const line = lineAt(node.range?.[0])
      if (path.length > YAML_PATH_MAX) {
        throw new FleetTextFault(`is nested in more than ${NESTING_MAX} levels`, line)
      }
      if (isAlias(node) && (aliases += 1) > ALIASES_MAX) {
        throw new FleetTextFault(`has more than ${ALIASES_MAX} aliases`, line)
      }
      if (isMap(node)) refuseRepeatedKeys(node.items, lineAt)
    },
  })
  // What aliases multiply, the parser itself weighs.
  try {
    document.toJS({ maxAliasCount: ALIASES_MAX })
  } catch (error) {
    if (error instanceof ReferenceError) throw new FleetTextFault(`is not YAML: ${error.message}`)
    throw error
  }
}

function refuseRepeatedKeys(
  items: readonly { readonly key: unknown }[],
  lineAt: (offset: number | undefined) => number | undefined,
): void {
  const seen = new Set<unknown>()
  for (const { key } of items) {
    const name = isScalar(key) ? key.value : key
    if (seen.has(name)) {
      const offset = isScalar(key) ? key.range?.[0] : undefined
      throw new FleetTextFault(`is not YAML: the key ${String(name)} stands twice`, lineAt(offset))
    }
    seen.add(name)
  }
}

function describe(fault: Error): string {
  const isTooDeep = fault.message.includes('call stack')
  if (isTooDeep) return `it is nested in more than ${NESTING_MAX} levels`
  return fault instanceof YAMLParseError ? fault.message.replace(/\.$/, '') : fault.message
}
