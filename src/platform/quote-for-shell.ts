/** A word as a POSIX shell takes it for one. */
export function quoteForShell(text: string): string {
  return /^[A-Za-z0-9_./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
