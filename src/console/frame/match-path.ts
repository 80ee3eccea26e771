// Which fields a path has, by the pattern of its screen.

/** The fields of a pattern such as `/hosts/:id`; undefined where the path is another one. */
export function matchPath(
  pattern: string,
  path: string,
): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/')
  const segments = path.split('/')
  if (wanted.length !== segments.length) return undefined
  const fields: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const segment = segments[at] ?? ''
    if (part.startsWith(':')) {
      const value = decode(segment)
      if (value === undefined || value === '') return undefined
      fields[part.slice(1)] = value
    } else if (part !== segment) {
      return undefined
    }
  }
  return fields
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
