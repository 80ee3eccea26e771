// RUST_LOG: a level, or a comma-separated list of `module=level` and at most one bare level for the rest.
// A module covers the modules below it (`hub` covers `hub.enroll`); `::` is read as `.`. The longest match wins.

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const
export type LogLevel = (typeof LEVELS)[number]

export interface LogFilter {
  levelOf(module: string): LogLevel
}

/** The filter, or undefined when the text is not one. */
export function parseLogFilter(text: string): LogFilter | undefined {
  const levels = new Map<string, LogLevel>()
  for (const directive of text.split(',').map((part) => part.trim())) {
    if (directive === '') continue
    const [left = '', right, ...more] = directive.split('=').map((part) => part.trim())
    const level = parseLevel(right ?? left)
    const module = right === undefined ? '' : left.replaceAll('::', '.')
    if (level === undefined || more.length > 0) return undefined
    if (right !== undefined && !/^[A-Za-z0-9_.-]+$/.test(module)) return undefined
    levels.set(module, level)
  }
  return { levelOf: (module) => longestMatch(levels, module) }
}

function parseLevel(text: string): LogLevel | undefined {
  const lower = text.toLowerCase()
  return LEVELS.find((level) => level === lower)
}

function longestMatch(levels: ReadonlyMap<string, LogLevel>, module: string): LogLevel {
  for (let name = module; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const level = levels.get(name)
    if (level !== undefined) return level
  }
  return levels.get('') ?? 'info'
}
