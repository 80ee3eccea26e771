// A pass on a real host: under the lock, with the rights of the applier, its reports told to the listener that takes them.

import { describeError } from '../../platform/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { exists } from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import type { FileOwner } from '../files/act-as.ts'
import { type AppliedStore, openAppliedStore } from './applied-store.ts'
import { applyTargets, type PassOptions, type TargetResult } from './apply-targets.ts'
import { loadTargets } from './load-targets.ts'
import { readFileAsOwner } from './read-file.ts'
import { type PairPlaces, readPairAsOwner } from './read-pair.ts'
import type { Applier } from './target-applier.ts'
import { formatProblem } from './target-explanation.ts'
import { nodeTargetFiles } from './target-files.ts'
import { createTargetParts } from './target-parts.ts'
import type { TargetReport } from './target-report.ts'
import {
  prepareTargetsState,
  type TargetsConfig,
  targetsStateDir,
  tryLockTargets,
} from './targets-state.ts'

const READERS = { pair: readPairAsOwner, file: readFileAsOwner }

/** `refused`: never to be told again. */
export type ReportVerdict = 'taken' | 'later' | 'refused'
/** After it no other report is begun with. */
const TELLING_MS_MAX = 20_000

export type TellReport = (report: TargetReport) => Promise<ReportVerdict>

export interface TargetsHost {
  readonly config: TargetsConfig
  readonly paths: PairPlaces
  readonly applier: Applier
  /** Whose the data directory is. */
  readonly owner: FileOwner
  readonly clock: Clock
  readonly log: Logger
}

export interface PassOutcome {
  readonly results: readonly TargetResult[]
  readonly problems: readonly string[]
  /** Reports that no listener has heard yet. */
  readonly reportsWaiting: number
}

/** Undefined while another pass is made. */
export async function runPass(
  host: TargetsHost,
  options: PassOptions,
  tell: TellReport | undefined,
): Promise<PassOutcome | undefined> {
  const { config, applier, clock, log } = host
  const { uid } = applier
  const stateDir = targetsStateDir(config, uid)
  const load = async () => {
    const loaded = await loadTargets(config.targetsDir, applier)
    const targets = loaded.targets.filter(({ appliedBy }) => appliedBy === uid)
    return { targets, problems: loaded.problems.map(formatProblem) }
  }
  // Even without targets there may be a change to put back, or a report to tell.
  if (!(await exists(stateDir))) {
    const { targets, problems } = await load()
    if (targets.length === 0) return { results: [], problems, reportsWaiting: 0 }
  }
  await prepareTargetsState(stateDir, uid)
  const lock = tryLockTargets(stateDir)
  if (lock === undefined) return undefined
  try {
    const lockDescriptor = lock.descriptor
    const pass = await applyTargets(
      {
        stateDir,
        files: nodeTargetFiles,
        parts: createTargetParts({ applier, log, lockDescriptor }),
        clock,
        log,
        newRequestId: timeOrderedUuid,
        // Under the lock: no target is applied that was taken away while this pass waited [ADO-7].
        loadTargets: load,
        readMaterial: ({ artefact, name }) => READERS[artefact](host.owner, host.paths, name),
      },
      options,
    )
    if (tell !== undefined) await tellReports(pass.applied, tell, log)
    const reportsWaiting = pass.applied.listReports().length
    return { results: pass.results, problems: pass.problems, reportsWaiting }
  } finally {
    lock.release()
  }
}

/** Tells what waits, without a pass. */
export async function tellWaitingReports(host: TargetsHost, tell: TellReport): Promise<void> {
  const stateDir = targetsStateDir(host.config, host.applier.uid)
  if (!(await exists(stateDir))) return
  await prepareTargetsState(stateDir, host.applier.uid)
  // Looked at first without the lock, which costs a process.
  if ((await openAppliedStore(stateDir, nodeTargetFiles)).listReports().length === 0) return
  const lock = tryLockTargets(stateDir)
  if (lock === undefined) return
  try {
    await tellReports(await openAppliedStore(stateDir, nodeTargetFiles), tell, host.log)
  } finally {
    lock.release()
  }
}

/**
 * In their order: a report that has to wait holds up the reports behind it. The listener may take its time, but not keep
 * the lock from the next pass.
 */
async function tellReports(applied: AppliedStore, tell: TellReport, log: Logger): Promise<void> {
  const endMs = performance.now() + TELLING_MS_MAX
  for (const report of applied.listReports()) {
    if (performance.now() >= endMs) return
    const verdict = await tell(report).catch((error: unknown) => {
      log.warn({ reason: describeError(error) }, 'Report of a target waits')
      return 'later' as const
    })
    if (verdict === 'later') return
    if (verdict === 'refused') log.warn({ report }, 'The agent refused the report of a target')
    await applied.removeReport(report.request_id)
  }
}
