// The headers that a receiver knows the hub by, such as `Authorization: Bearer …`: a line each, as the vault keeps them.

const LINE =
  /^(?<name>[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}):[ \t]*(?<value>[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?)$/
/** What the request itself says. */
const OWN = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

/** Why they are none; never with a value, which may be a secret. */
export function findHeaderFault(lines: readonly string[]): string | undefined {
  const names = new Set<string>()
  for (const [at, line] of lines.entries()) {
    const name = LINE.exec(line)?.groups?.['name']?.toLowerCase()
    if (name === undefined) return `header ${at + 1} is not of the form "Name: value"`
    if (OWN.has(name)) return `the hub says ${name} itself`
    if (names.has(name)) return `${name} is there twice`
    names.add(name)
  }
  return undefined
}

/** Of lines that were looked at. */
export function parseHeaders(text: string): Readonly<Record<string, string>> {
  const found = text.split('\n').flatMap((line) => {
    const { name, value } = LINE.exec(line)?.groups ?? {}
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const]
  })
  return Object.fromEntries(found)
}
