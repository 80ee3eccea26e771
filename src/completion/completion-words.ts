/** A shell function's name for a program’s completion: `_svc_agent`. */
export function functionNameOf(program: string): string {
  return `_${program.replaceAll('-', '_')}`
}

/** In single quotes, for bash and zsh. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
