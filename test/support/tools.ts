// The tools of this machine that tests call. To find one and to start it is one thing: both look where PATH leads, and then
// where Debian keeps what only root needs, wherever PATH leads.

import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

const USUAL = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
const directories = [...new Set([...(process.env['PATH'] ?? '').split(':'), ...USUAL])].filter(
  (directory) => directory.startsWith('/'),
)

/** The PATH to start tools with, for what they call themselves. */
export const TOOL_PATH: string = directories.join(':')

export function findTool(name: string): string | undefined {
  if (name.startsWith('/')) return isExecutable(name) ? name : undefined
  return directories.map((directory) => join(directory, name)).find(isExecutable)
}

/** To be started; ask `withTools` first. */
export function pathOfTool(name: string): string {
  const path = findTool(name)
  if (path === undefined) throw new Error(`${name} is not installed`)
  return path
}

/** For `describe` and `test`: where one of them is missing they skip; with CI=true nothing does, and it fails. */
export function withTools(...names: readonly string[]): { readonly skip: string | false } {
  const missing = names.filter((name) => findTool(name) === undefined)
  const isHidden = missing.length > 0 && process.env['CI'] !== 'true'
  return { skip: isHidden && `not installed: ${missing.join(', ')}` }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
