// Who puts a target's files in place: root beside the agent, or the agent's own user.

import { type TargetsConfig, targetsStateDir } from './targets-state.ts'

export interface Applier {
  readonly uid: number
  readonly gid: number
  /** Further groups that it may give a file to; root may give to any. */
  readonly groupIds: readonly number[]
  /** What the agent keeps for itself: no target may write in there. */
  readonly ownDirectories: readonly string[]
}

/** The user that this process acts as now. */
export function currentApplier(
  config: TargetsConfig,
  paths: Readonly<Record<'identityDir' | 'outDir' | 'stateDir' | 'hookDir', string>>,
): Applier {
  const uid = process.geteuid?.() ?? 0
  return {
    uid,
    gid: process.getegid?.() ?? 0,
    groupIds: process.getgroups?.() ?? [],
    ownDirectories: [
      paths.identityDir,
      paths.outDir,
      paths.stateDir,
      paths.hookDir,
      config.targetsDir,
      targetsStateDir(config, uid),
    ],
  }
}
