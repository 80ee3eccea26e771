// Paths of the admin operations with a field of the request in them: `/v1/push/:agente`.

/** The fields that the path holds when it is one of this pattern. */
export function matchAdminPath(
  pattern: string,
  path: string,
): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const fields: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? ''
    if (!part.startsWith(':')) {
      if (part !== text) return undefined
      continue
    }
    const value = decode(text)
    if (value === undefined || value === '') return undefined
    fields[part.slice(1)] = value
  }
  return fields
}

/** The path of one request, and what of it is left for the body. */
export function fillAdminPath(
  pattern: string,
  request: Readonly<Record<string, unknown>>,
): { readonly path: string; readonly body: Readonly<Record<string, unknown>> } {
  const body = { ...request }
  const parts = pattern.split('/').map((part) => {
    if (!part.startsWith(':')) return part
    const name = part.slice(1)
    const value = body[name]
    delete body[name]
    return encodeURIComponent(String(value))
  })
  return { path: parts.join('/'), body }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
