// The forms in which the hub sends entries, as a URL says them.

export const FORMATS = ['json', 'slack', 'teams', 'mail', 'syslog', 'otlp'] as const
export type Format = (typeof FORMATS)[number]

/** Where a format is more than its scheme: what stands before https. */
const PREFIXES: Readonly<Partial<Record<Format, string>>> = {
  slack: 'slack+',
  teams: 'teams+',
  otlp: 'otlp+',
}

/** What is typed, with what its form puts before; a URL that says its form already stays. */
export function urlOf(format: Format, typed: string): string {
  const url = typed.trim()
  const prefix = PREFIXES[format]
  return prefix !== undefined && /^https?:/.test(url) ? prefix + url : url
}

export function formatOf(url: string): Format {
  if (url.startsWith('slack+')) return 'slack'
  if (url.startsWith('teams+')) return 'teams'
  if (url.startsWith('otlp+')) return 'otlp'
  if (url.startsWith('syslog+')) return 'syslog'
  return url.startsWith('smtp') ? 'mail' : 'json'
}

/** Types of entries, apart from each other by anything that is no part of one. */
export function parseTipos(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((tipo) => tipo !== ''))]
}
