import type { IncomingMessage } from 'node:http'

/** Node keeps the first `Host` and drops the rest, where a proxy before it may have gone by the last (RFC 9112, 3.2). */
export function namesSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count > 1
}
