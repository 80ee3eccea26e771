// certbot: `live/NAME/…` are links into `archive/NAME/`, and `renewal/NAME.conf` is what makes it renew them.

import { join } from 'node:path'
import { type FindRenewer, STOPPED_SUFFIX } from './renewer.ts'

const LINEAGE = /^(.*)\/(?:live|archive)\/([^/]+)\/[^/]+$/

export const findCertbot: FindRenewer = (reader, { path, realPath }) => {
  for (const candidate of [path, realPath]) {
    const [, directory, name] = LINEAGE.exec(candidate) ?? []
    if (directory === undefined || name === undefined) continue
    const from = join(directory, 'renewal', `${name}.conf`)
    const to = `${from}${STOPPED_SUFFIX}`
    // Another adoption may have stopped it: it is stopped for this one too.
    const text = reader.read(from) ?? reader.read(to)
    if (text === undefined || !/^fullchain\s*=/m.test(text)) continue
    const hooks = [...text.matchAll(/^(renew_hook|post_hook|deploy_hook)\s*=\s*(.+)$/gm)].map(
      ([, key = '', value = '']) => `certbot ran its ${key} after a renewal: ${value.trim()}`,
    )
    const scripts = (reader.list(join(directory, 'renewal-hooks/deploy')) ?? []).map(
      (script) => `certbot ran ${join(directory, 'renewal-hooks/deploy', script)} after a renewal`,
    )
    const stop = { kind: 'rename', from, to } as const
    return [{ kind: 'certbot', name, stop, notes: [...hooks, ...scripts] }]
  }
  return []
}
