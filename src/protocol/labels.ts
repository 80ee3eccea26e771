// Labels: what is said of a host, as `key=value`. The grammar is that of Kubernetes' labels, without the DNS name that may
// stand before a key there. docs/protocol.md LBL-1.

export type Labels = ReadonlyMap<string, string>

export interface Label {
  readonly key: string
  readonly value: string
}

/** Of keys that only the agent of a host says; they never decide anything. docs/protocol.md LBL-3. */
export const REPORTED_PREFIX = 'host.'

/** What agents see of their hosts themselves, by keys without that; nobody else says it for them. docs/protocol.md LBL-12. */
export const SEEN_KEYS = [
  'os',
  'arch',
  'distribution',
  'distribution-version',
  'agent-version',
] as const
export type SeenKey = (typeof SEEN_KEYS)[number]

/** What each host has anyway, and selectors know by the same form. */
export const BUILT_IN_KEYS = ['name', 'role'] as const
export type BuiltInKey = (typeof BUILT_IN_KEYS)[number]

export const LABEL_BYTES_MAX = 63
/** Of what tokens and operators give one host, and of what its agent says. */
export const GIVEN_LABELS_MAX = 32
export const REPORTED_LABELS_MAX = 16

/** Letters, digits, `-`, `_` and `.`, a letter or a digit at both ends: all of ASCII, so characters are bytes. */
const WORD = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/

export function isReported(key: string): boolean {
  return key.startsWith(REPORTED_PREFIX)
}

export function isBuiltIn(key: string): key is BuiltInKey {
  return (BUILT_IN_KEYS as readonly string[]).includes(key)
}

/** Why this is no key of a label; undefined when it is one. */
export function findKeyFault(key: string): string | undefined {
  if (key === '') return 'a key is missing'
  return findWordFault('a key', key)
}

/** Why this is no value of a label; undefined when it is one. The empty text is one. */
export function findValueFault(value: string): string | undefined {
  return value === '' ? undefined : findWordFault('a value', value)
}

/** Why nobody but the agent may give a host a label of this key; undefined when one may. */
export function findGivenKeyFault(key: string): string | undefined {
  if (isReported(key)) return `only the agent of a host says what begins with ${REPORTED_PREFIX}`
  if (isBuiltIn(key)) return `each host has a ${key} that no label replaces`
  return findKeyFault(key)
}

function findWordFault(what: string, text: string): string | undefined {
  if (text.length > LABEL_BYTES_MAX) return `${what} has at most ${LABEL_BYTES_MAX} bytes`
  if (WORD.test(text)) return undefined
  return `${what} has letters, digits, -, _ and . alone, and begins and ends with a letter or a digit`
}

/** `key=value`, where `key=` has the empty value. Undefined for a text without `=`; its parts may have faults. */
export function splitLabel(text: string): Label | undefined {
  const at = text.indexOf('=')
  return at === -1 ? undefined : { key: text.slice(0, at), value: text.slice(at + 1) }
}

/** As `key=value`, by key: the same labels are the same list. */
export function listLabels(labels: Labels): string[] {
  return sortLabels(labels).map(([key, value]) => `${key}=${value}`)
}

export function toLabelRecord(labels: Labels): Record<string, string> {
  return Object.fromEntries(sortLabels(labels))
}

function sortLabels(labels: Labels): (readonly [string, string])[] {
  return [...labels].toSorted(([one], [other]) => (one < other ? -1 : 1))
}
