// A command of `svc` as a shell takes it: whatever is no plain word stands in quotes.

export type CommandOptions = Readonly<
  Record<string, string | boolean | readonly string[] | undefined>
>

/** An option that is undefined, false or empty is left out; one that is true has no value. */
export function describeCommand(words: readonly string[], options: CommandOptions = {}): string {
  const parts = words.map((word) => quoteWord(word))
  for (const [name, value] of Object.entries(options)) {
    const option = `--${name}`
    if (value === true) parts.push(option)
    if (value === undefined || value === '' || typeof value === 'boolean') continue
    for (const each of typeof value === 'string' ? [value] : value) {
      parts.push(option, quoteWord(each))
    }
  }
  return parts.join(' ')
}

function quoteWord(word: string): string {
  if (/^[\w.,:/@%+-]+$/u.test(word)) return word
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
