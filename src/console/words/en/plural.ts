/** `1 host is`, `1,204 hosts are`. */
export function plural(count: number, one: string, many: string): string {
  return `${new Intl.NumberFormat('en').format(count)} ${count === 1 ? one : many}`
}
