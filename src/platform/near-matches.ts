// What a person who mistyped a word most likely meant.

const CHARACTERS_MAX = 64
const MATCHES_MAX = 3

/** The candidates that few slips make out of `text`, the nearest first, and none that is much further than that. */
export function nearMatches(text: string, candidates: readonly string[]): string[] {
  if (text.length > CHARACTERS_MAX) return []
  const wanted = text.toLowerCase()
  const near = candidates
    .map((candidate) => ({ candidate, slips: countSlips(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, slips }) => slips <= slipsMax(wanted, candidate))
    .sort((a, b) => a.slips - b.slips)
  const [{ slips: least } = { slips: 0 }] = near
  return near
    .filter(({ slips }) => slips <= least + 1)
    .slice(0, MATCHES_MAX)
    .map(({ candidate }) => candidate)
}

/** `did you mean web, web-db?`, or undefined where nothing is near. */
export function didYouMean(text: string, candidates: readonly string[]): string | undefined {
  const near = nearMatches(text, candidates)
  return near.length === 0 ? undefined : `did you mean ${near.join(', ')}?`
}

/** A third of the word; in a word of two letters one slip. */
function slipsMax(text: string, candidate: string): number {
  return Math.max(1, Math.floor(Math.max(text.length, candidate.length) / 3))
}

/** Letters that are missing, too many, wrong, or swapped with the next one (optimal string alignment). */
function countSlips(from: string, to: string): number {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      line.push(
        Math.min(
          at(last, column) + 1,
          at(line, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwap ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    before = last
    last = line
  }
  return at(last, to.length)
}

function at(line: readonly number[], column: number): number {
  return line[column] ?? Number.POSITIVE_INFINITY
}
