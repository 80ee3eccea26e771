// Text that others had a hand in, for a terminal, which must not obey it: controls of C0 and C1, line and paragraph
// separators, and the marks that turn the direction of writing.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu
/** Without line break and tab, which would cost a call each. */
// oxlint-disable-next-line no-control-regex -- They are what it is about.
const UNPRINTABLE_IN_LINES = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\p{Bidi_Control}]/gu

/** One line, with whatever a terminal would obey written as `\uXXXX`. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, escape)
}

/** The same with its line breaks and tabs kept. A JSON document stays the same document: only its strings have any. */
export function printableLines(text: string): string {
  return text.replaceAll(UNPRINTABLE_IN_LINES, escape)
}

/** What strangers said, no longer than so many characters, for a line of a log or an answer. */
export function printableExtract(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).replaceAll(/[^\x20-\x7e]/g, '?')
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
