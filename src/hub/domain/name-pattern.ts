// The names of hosts that a join rule is for: `web-*.example.org`. A pattern is matched by hand, since a regular expression made of
// what somebody wrote may take any time. docs/protocol.md JNR-3.

import { type Hostname, parseHostname } from '../../protocol/identifiers.ts'

/** What `*` stands for on both of its sides: no label, no dot. */
const WILDCARDS_MAX = 2
/** A letter in place of each `*` must make a hostname of the pattern. */
const ANY = 'x'

/** Why a text is no pattern, in words that end a sentence about it; undefined for a pattern. */
export function findPatternFault(text: string): string | undefined {
  const wildcards = text.split('*').length - 1
  if (wildcards > WILDCARDS_MAX) return `has more than ${WILDCARDS_MAX} *`
  if (text.includes('**')) return 'has one * after another'
  if (parseHostname(text.replaceAll('*', ANY)) === undefined) {
    return 'is not a lower-case host name with * in place of some of its letters'
  }
  const labels = text.split('.')
  if (labels.length === 1 || labels.at(-1)?.includes('*') === true) {
    return 'must end in a domain without *'
  }
  return undefined
}

/** Each `*` stands for one character or more of one label. */
export function matchesPattern(pattern: string, hostname: Hostname): boolean {
  const wanted = pattern.split('.')
  const labels = hostname.split('.')
  return (
    wanted.length === labels.length &&
    wanted.every((each, at) => matchesLabel(each.split('*'), labels[at] ?? ''))
  )
}

/** The parts of a label between its wildcards. The first place of a part is as good as any: it leaves most to the next. */
function matchesLabel(parts: readonly string[], label: string): boolean {
  const [first = '', ...others] = parts
  const last = others.pop()
  if (last === undefined) return label === first
  if (!label.startsWith(first) || !label.endsWith(last)) return false
  const end = label.length - last.length
  let at = first.length
  for (const part of others) {
    const found = label.indexOf(part, at + 1)
    if (found === -1) return false
    at = found + part.length
  }
  return at + 1 <= end
}
