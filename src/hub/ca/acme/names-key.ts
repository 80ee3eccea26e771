/** The same for the same names, in whatever order. */
export function keyOf(names: readonly string[]): string {
  return names.toSorted().join(' ')
}
