// Names that somebody typed, one a line.

export function readLines(text: string): string[] {
  return [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '')
}

/** The first line that cannot be one name. */
export function findNoName(lines: readonly string[]): string | undefined {
  return lines.find((line) => /[\s,;]/u.test(line))
}
