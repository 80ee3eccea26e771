// Numbers and names of users and groups, and whose a file is.

import { stat } from 'node:fs/promises'
import { runTool } from '../../support/processes.ts'

export async function idOf(database: 'passwd' | 'group', name: string): Promise<number> {
  return Number(await field(database, name, 2))
}

/** As `root:ssl-cert 640`. */
export async function ownershipOf(path: string): Promise<string> {
  const { uid, gid, mode } = await stat(path)
  const owner = await field('passwd', String(uid), 0)
  const group = await field('group', String(gid), 0)
  return `${owner}:${group} ${(mode & 0o7777).toString(8)}`
}

async function field(database: string, key: string, index: number): Promise<string> {
  const entry = await runTool('getent', [database, key])
  return entry.trim().split(':')[index] ?? ''
}
