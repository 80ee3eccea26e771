/** `às 20:19` de hoje, `em 28 de nov., 20:19` de outro dia. */
export function atTime(time: string): string {
  return /^\d{2}:\d{2}/.test(time) ? `às ${time}` : `em ${time}`
}
