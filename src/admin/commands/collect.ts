/** For commander: the values of an option that may be given more than once. */
export function collect(value: string, earlier: readonly string[]): string[] {
  return [...earlier, value]
}
