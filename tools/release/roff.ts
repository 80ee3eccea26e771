// Text and blocks as man(7) takes them. What a formatter would obey, or print as another character, is escaped.

const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '"': '\\(dq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  '’': '\\(cq',
  // Every terminal has three dots.
  '…': '...',
}

/** One line, of letters as they are: a period at its beginning is no request. */
export function escapeRoff(text: string): string {
  const escaped = text.replaceAll(/[^\w ,.:;()[\]{}<>/=+*@#$%&!?|]/gu, escapeCharacter)
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped
}

function escapeCharacter(character: string): string {
  const known = ESCAPED[character]
  if (known !== undefined) return known
  const hexadecimal = character.codePointAt(0)?.toString(16).toUpperCase() ?? ''
  return /\s/.test(character) ? ' ' : `\\[u${hexadecimal.padStart(4, '0')}]`
}

export function section(title: string): string {
  return `.SH ${escapeRoff(title)}\n`
}

export function subsection(title: string): string {
  return `.SS ${escapeRoff(title)}\n`
}

/** What stands in backticks is bold. */
export function paragraph(text: string): string {
  return `.PP\n${prose(text)}\n`
}

export function usage(line: string): string {
  return `.PP\n${flags(line)}\n`
}

/** An option, a variable or a file, and what it is. */
export function definition(term: string, text: string): string {
  return `.TP\n${flags(term)}\n${prose(text)}\n`
}

/** Lines that stay as they are, for a shell. */
export function verbatim(lines: readonly string[]): string {
  return `.PP\n.RS 4\n.EX\n${lines.map((line) => `${escapeRoff(line)}\n`).join('')}.EE\n.RE\n`
}

function prose(text: string): string {
  return styled(text, /`([^`]+)`/, 'B')
}

/** What is typed is bold; what a value stands for is italic. */
function flags(text: string): string {
  return `\\fB${styled(text, /<([^>]+)>/, 'I', ['<', '>']).replaceAll('\\fR', '\\fB')}\\fR`
}

/** Splitting at a pattern with one group gives what is between the matches at even places, and the groups at odd ones. */
function styled(text: string, pattern: RegExp, font: string, [before, after] = ['', '']): string {
  const parts = text.split(pattern).map((part, index) => {
    const escaped = escapeRoff(part)
    return index % 2 === 0 ? escaped : `${before}\\f${font}${escaped}\\fR${after}`
  })
  return parts.join('')
}
