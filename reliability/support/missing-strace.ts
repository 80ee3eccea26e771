import { access } from 'node:fs/promises'

/** Why a row that runs programs under strace is left out; undefined when it is there. Under CI it has to be. */
export async function findMissingStrace(): Promise<string | undefined> {
  const isThere = await access('/usr/bin/strace').then(
    () => true,
    () => false,
  )
  if (isThere) return undefined
  if (process.env['CI'] === 'true') throw new Error('strace is needed under CI=true')
  return 'strace is not installed'
}
