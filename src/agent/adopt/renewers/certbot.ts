// certbot: `live/NAME/…` are links into `archive/NAME/`, and `renewal/NAME.conf` is what makes it renew them.

import { join } from 'node:path'
import { type FindRenewer, STOPPED_SUFFIX } from './renewer.ts'

const LINEAGE = /^(.*)\/(?:live|archive)\/([^/]+)\/[^/]+$/
/** With hyphens in `cli.ini`. */
const HOOK = /^\s*((?:pre|renew|post|deploy)[_-]hook)\s*=\s*(.+)$/gm

export const findCertbot: FindRenewer = (reader, { path, realPath }) => {
  for (const candidate of [path, realPath]) {
    const [, directory, name] = LINEAGE.exec(candidate) ?? []
    if (directory === undefined || name === undefined) continue
    const from = join(directory, 'renewal', `${name}.conf`)
    const to = `${from}${STOPPED_SUFFIX}`
    // Another adoption may have stopped it: it is stopped for this one too.
    const text = reader.read(from) ?? reader.read(to)
    if (text === undefined || !/^fullchain\s*=/m.test(text)) continue
    const everybodys = reader.read(join(directory, 'cli.ini')) ?? ''
    const hooks = [...`${text}\n${everybodys}`.matchAll(HOOK)].map(
      ([, key = '', value = '']) => `certbot ran its ${key} at a renewal: ${value.trim()}`,
    )
    const scripts = ['pre', 'deploy', 'post'].flatMap((when) => {
      const hookDirectory = join(directory, 'renewal-hooks', when)
      return (reader.list(hookDirectory) ?? []).map(
        (script) => `certbot ran ${join(hookDirectory, script)} at a renewal`,
      )
    })
    const stop = { kind: 'rename', from, to } as const
    return [{ kind: 'certbot', name, stop, notes: [...hooks, ...scripts] }]
  }
  return []
}
