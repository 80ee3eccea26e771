// What a `fleet_applied` says that it made or changed. docs/protocol.md DCL-8, EVD-8.

type Payload = Readonly<Record<string, unknown>>

export function appliedIn(payload: Payload): readonly Payload[] {
  return objectsIn(payload['changes']).filter(
    ({ action }) => action === 'create' || action === 'update',
  )
}

export function isPolicy({ kind }: Payload): boolean {
  return kind === 'politica' || kind === 'politica_seletor'
}

/** Of a carga: another selector alone is none. */
export function isNextVersion({ kind, action, fields }: Payload): boolean {
  if (kind !== 'carga') return false
  return action === 'create' || (Array.isArray(fields) && fields.includes('sans'))
}

export function objectsIn(value: unknown): readonly Payload[] {
  if (!Array.isArray(value)) return []
  return value.filter((each): each is Payload => {
    return typeof each === 'object' && each !== null && !Array.isArray(each)
  })
}
