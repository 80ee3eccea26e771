import { DeliveryKind } from './words.ts'

/** The files in `out/` that a delivery of this kind and name writes. docs/protocol.md DEL. */
export function artefactFiles(kind: DeliveryKind, name: string): readonly string[] {
  return kind === DeliveryKind.csrCert ? [`${name}.crt`, `${name}.key`] : [name]
}

const PAIR_SUFFIXES = ['.crt', '.key']

/** In lower case: what a delivery may be named, of whatever kind, that writes a file of this one. */
export function rivalNames(kind: DeliveryKind, name: string): readonly string[] {
  const files = artefactFiles(kind, name).map((file) => file.toLowerCase())
  const stems = PAIR_SUFFIXES.flatMap((suffix) =>
    files.filter((file) => file.endsWith(suffix)).map((file) => file.slice(0, -suffix.length)),
  )
  return [...new Set([...files, ...stems])]
}

/** The first file that both would write; file systems that fold case make one file of two names. */
export function findSharedFile(
  one: readonly string[],
  other: readonly string[],
): string | undefined {
  const taken = new Set(other.map((name) => name.toLowerCase()))
  return one.find((name) => taken.has(name.toLowerCase()))
}
