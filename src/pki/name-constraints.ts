// Whether the names of a host's certificate are those that a CA above it may give: RFC 5280, 4.2.1.10. Of DNS names and addresses; where
// a CA is bound in names of another kind, and the certificate has such a name, it is refused.

import { type GeneralName, type NameConstraints, NameKind } from './certificate-extensions.ts'

export function breaksConstraints(
  names: readonly GeneralName[],
  { permitted, excluded }: NameConstraints,
): boolean {
  return names.some((name) => {
    const allowed = permitted.filter(({ kind }) => kind === name.kind)
    const forbidden = excluded.filter(({ kind }) => kind === name.kind)
    const isBound = allowed.length > 0 || forbidden.length > 0
    if (isBound && name.kind !== NameKind.dns && name.kind !== NameKind.ip) return true
    const isAllowed = allowed.length === 0 || allowed.some((base) => isWithin(name, base))
    return !isAllowed || forbidden.some((base) => isWithin(name, base))
  })
}

function isWithin({ kind, content }: GeneralName, base: GeneralName): boolean {
  return kind === NameKind.dns
    ? isBelow(textOf(content), textOf(base.content))
    : isInNetwork(content, base.content)
}

/** `.example.org`, which RFC 5280 has for other kinds of names, is what is below it. */
function isBelow(name: string, base: string): boolean {
  if (base === '') return true
  return base.startsWith('.') ? name.endsWith(base) : name === base || name.endsWith(`.${base}`)
}

function isInNetwork(address: Buffer, network: Buffer): boolean {
  const length = network.length / 2
  return (
    address.length === length &&
    address.every((byte, at) => {
      const mask = network[length + at] ?? 0
      return (byte & mask) === ((network[at] ?? 0) & mask)
    })
  )
}

export function textOf(content: Buffer): string {
  return content.toString('latin1').toLowerCase()
}
