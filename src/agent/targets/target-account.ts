// Whose a target's file will be: names of users and groups become the numbers that the kernel knows.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Applier } from './target-applier.ts'
import type { TargetFile } from './target.ts'

export type ResolvedOwner =
  | { readonly ok: true; readonly uid: number; readonly gid: number }
  | { readonly ok: false; readonly reason: string }

const runFile = promisify(execFile)

const LOOKUP_TIMEOUT_MS = 10_000
const LOOKUP_BYTES_MAX = 1024 * 1024
/** getent: one or more of the names are not in the database. */
const EXIT_NOT_FOUND = 2

/** The numbers that the file gets; refused when there is no such account, or the applier may not give a file to it. */
export async function resolveFileOwner(
  { owner, group }: Pick<TargetFile, 'owner' | 'group'>,
  applier: Applier,
): Promise<ResolvedOwner> {
  const uid = owner === undefined ? applier.uid : await findAccount('passwd', owner)
  if (typeof uid === 'string') return { ok: false, reason: uid }
  const gid = group === undefined ? applier.gid : await findAccount('group', group)
  if (typeof gid === 'string') return { ok: false, reason: gid }
  if (applier.uid === 0) return { ok: true, uid, gid }
  if (uid !== applier.uid) {
    return { ok: false, reason: `only root can give a file to user ${owner ?? uid}` }
  }
  if (gid !== applier.gid && !applier.groupIds.includes(gid)) {
    return { ok: false, reason: `user ${applier.uid} is not in group ${group ?? gid}` }
  }
  return { ok: true, uid, gid }
}

/** As people know it: by its name, where the system says one. */
export async function describeUser(uid: number): Promise<string> {
  return uid === 0 ? 'root' : `user ${await accountName('passwd', uid)}`
}

/** The number, as text, where the system knows no name that a target could have. */
export async function accountName(database: 'passwd' | 'group', number: number): Promise<string> {
  if (number === 0) return 'root'
  const [name = ''] = await askAccounts(database, String(number)).then(
    (line) => line.split(':'),
    () => [],
  )
  return /^[A-Za-z_][\w.-]{0,31}$/.test(name) ? name : String(number)
}

/** Its number, or the reason why it has none. Asks the system, which may keep accounts elsewhere than in /etc. */
async function findAccount(
  database: 'passwd' | 'group',
  nameOrNumber: string,
): Promise<number | string> {
  if (/^\d+$/.test(nameOrNumber)) return Number(nameOrNumber)
  const noun = database === 'passwd' ? 'user' : 'group'
  try {
    const number = (await askAccounts(database, nameOrNumber)).split(':')[2] ?? ''
    return /^\d+$/.test(number) ? Number(number) : `${noun} ${nameOrNumber} cannot be looked up`
  } catch (error) {
    const isUnknown = error instanceof Error && 'code' in error && error.code === EXIT_NOT_FOUND
    return isUnknown
      ? `there is no ${noun} ${nameOrNumber}`
      : `${noun} ${nameOrNumber} cannot be looked up; give its number instead`
  }
}

/** `name:password:number:…`, in both databases. */
async function askAccounts(database: 'passwd' | 'group', nameOrNumber: string): Promise<string> {
  const { stdout } = await runFile('getent', [database, nameOrNumber], {
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    timeout: LOOKUP_TIMEOUT_MS,
    maxBuffer: LOOKUP_BYTES_MAX,
  })
  return stdout
}
