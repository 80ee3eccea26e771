// Root lays its rights aside for a while: what it does in between, it does with the rights of a user that it does not trust.

import { invariant } from '../../platform/errors.ts'
import { takeGroupsOf } from '../../platform/take-groups.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import { lookAt, readTrustedDirectories } from './trusted-path.ts'

export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

export type OwnerFinding =
  | { readonly ok: true; readonly owner: FileOwner }
  | { readonly ok: false; readonly reason: string }

const ROOT: FileOwner = { uid: 0, gid: 0 }

// Effective ids belong to the whole process: two at a time would take each other's.
const queue = createSerialQueue()

/**
 * Does `work` with the effective user, group and supplementary groups of `owner`, and comes back whatever becomes of
 * it. Nothing else of the process should touch files meanwhile, since it would do so as the owner. Without root's
 * rights, or when the owner is root, it is just `work`. Calls do not nest: the inner one would wait for the outer.
 */
export async function actAs<T>(owner: FileOwner, work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== ROOT.uid || owner.uid === ROOT.uid) return work()
  return queue.run(async () => {
    const groups = process.getgroups?.() ?? []
    const gid = process.getegid?.() ?? ROOT.gid
    try {
      becomeEffectively(owner)
      return await work()
    } finally {
      comeBack(gid, groups)
    }
  })
}

/**
 * Whose a directory is. Refused when anyone but that user and root could put another in its place: then its owner
 * would be any user that they choose.
 */
export async function findOwnerOf(directory: string): Promise<OwnerFinding> {
  const seen = await lookAt(directory)
  if (seen === undefined) return { ok: false, reason: `${directory} does not exist` }
  if (typeof seen === 'string') return { ok: false, reason: seen }
  const trusted = await readTrustedDirectories(directory, seen.uid)
  if (!trusted.ok) return trusted
  const last = trusted.directories.at(-1)
  invariant(last !== undefined, `no directory leads to ${directory}`)
  return last.uid === seen.uid
    ? { ok: true, owner: { uid: last.uid, gid: last.gid } }
    : { ok: false, reason: `${directory} was replaced meanwhile` }
}

/** The real and the saved user stay root's: so there is a way back, and the owner may send us no signals. */
function becomeEffectively({ uid, gid: givenGid }: FileOwner): void {
  const gid = takeGroupsOf(uid, givenGid)
  process.setegid?.(gid)
  process.seteuid?.(uid)
  invariant(
    process.geteuid?.() === uid && process.getegid?.() === gid,
    `the process did not become user ${uid}`,
  )
}

function comeBack(gid: number, groups: readonly number[]): void {
  // The user first: only root may choose its groups.
  process.seteuid?.(ROOT.uid)
  process.setegid?.(gid)
  process.setgroups?.([...groups])
  invariant(
    process.geteuid?.() === ROOT.uid && process.getegid?.() === gid,
    'the process did not get its own rights back',
  )
}
