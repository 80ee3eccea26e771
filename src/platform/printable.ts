// Text that others had a hand in, for a terminal, which must not obey it: controls of C0 and C1, line and paragraph
// separators, and the marks that turn the direction of writing.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** One line, with whatever a terminal would obey written as `\uXXXX`. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, escape)
}

/** The same with its line breaks and tabs kept. */
export function printableLines(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) =>
    character === '\n' || character === '\t' ? character : escape(character),
  )
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
