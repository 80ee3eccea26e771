/** Where there is little room: `web-3.sao` of `web-3.sao.example.org`. The whole name is never far. */
export function shortenHostname(hostname: string): string {
  return hostname.split('.', 2).join('.')
}
