// Paths of the admin operations with a field of the request in them: `/v1/push/:agente`.

/** The path of one request, and the fields that are left for the body. */
export function fillAdminPath(
  pattern: string,
  request: object,
): { readonly path: string; readonly body: Readonly<Record<string, unknown>> } {
  const body: Record<string, unknown> = { ...request }
  const parts = pattern.split('/').map((part) => {
    if (!part.startsWith(':')) return part
    const name = part.slice(1)
    const value = body[name]
    delete body[name]
    return encodeURIComponent(String(value))
  })
  return { path: parts.join('/'), body }
}
