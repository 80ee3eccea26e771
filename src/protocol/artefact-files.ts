import { DeliveryKind } from './words.ts'

/** The files in `out/` that a delivery of this kind and name writes. docs/protocol.md DEL. */
export function artefactFiles(kind: DeliveryKind, name: string): readonly string[] {
  return kind === DeliveryKind.csrCert ? [`${name}.crt`, `${name}.key`] : [name]
}

/** The first file that both would write; file systems that fold case make one file of two names. */
export function findSharedFile(
  one: readonly string[],
  other: readonly string[],
): string | undefined {
  const taken = new Set(other.map((name) => name.toLowerCase()))
  return one.find((name) => taken.has(name.toLowerCase()))
}
