/** `1 host is`, `1,204 hosts are`; of a number, or of one that is formatted. */
export function plural(count: number | string, one: string, many: string): string {
  const text = typeof count === 'string' ? count : new Intl.NumberFormat('en').format(count)
  return `${text} ${text === '1' ? one : many}`
}
