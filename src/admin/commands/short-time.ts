/** Without the fraction of a second, which makes a column wider and tells an operator nothing. */
export function shortTime(time: string | null): string | null {
  return time === null ? null : time.replace(/\.\d+Z$/, 'Z')
}
