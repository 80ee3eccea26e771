import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Few enough that their JSON is made in a few milliseconds. */
const SLICE_ROWS = 1000

/**
 * What is to be sent of a reply: itself, or with a long list in it a stream of its JSON, which is made a slice at a time: all
 * at once 100,000 entregas would hold up everybody. docs/protocol.md FLT-8.
 */
export function inSlices(body: object): object {
  const isLong = Object.values(body).some(
    (value) => Array.isArray(value) && value.length > SLICE_ROWS,
  )
  return isLong ? Readable.from(jsonOf(body), { objectMode: false }) : body
}

async function* jsonOf(body: object): AsyncGenerator<string> {
  let separator = '{'
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    if (value === undefined) continue
    yield `${separator}${JSON.stringify(name)}:`
    if (Array.isArray(value)) yield* jsonOfList(value)
    else yield JSON.stringify(value)
    separator = ','
  }
  yield '}'
}

async function* jsonOfList(rows: readonly unknown[]): AsyncGenerator<string> {
  yield '['
  for (let start = 0; start < rows.length; start += SLICE_ROWS) {
    const text = JSON.stringify(rows.slice(start, start + SLICE_ROWS)).slice(1, -1)
    yield start === 0 ? text : `,${text}`
    await nextTurn()
  }
  yield ']'
}
