import { findTool } from '../../test/support/tools.ts'

/** Why a row that runs programs under strace is left out; undefined when it is there. Under CI it has to be. */
export function findMissingStrace(): string | undefined {
  if (findTool('strace') !== undefined) return undefined
  if (process.env['CI'] === 'true') throw new Error('strace is needed under CI=true')
  return 'strace is not installed'
}
