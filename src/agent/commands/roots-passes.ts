// Passes over targets that root starts by hand: they wait for each other, and tell the agent what became of them.

import { statSync } from 'node:fs'
import { SvcError, UserError } from '../../platform/errors.ts'
import { reportToRunningAgent } from '../control/control-socket.ts'
import { actAs, type FileOwner } from '../files/act-as.ts'
import { readTrustedDirectories } from '../files/trusted-path.ts'
import type { AgentConfig } from '../settings/config.ts'
import type { AgentPaths } from '../settings/paths.ts'
import type { PassOptions } from '../targets/apply-targets.ts'
import {
  type PassOutcome,
  runPass,
  type TargetsHost,
  type TellReport,
} from '../targets/run-pass.ts'

const BUSY_RETRY_MS = 500
const BUSY_WAIT_MS = 120_000

export function passWhenFree(
  host: TargetsHost,
  options: PassOptions,
  tell: TellReport,
): Promise<PassOutcome> {
  return whenFree(host, () => runPass(host, options, tell))
}

/** `attempt` answers undefined while another pass is made. */
export async function whenFree<T>(
  { clock }: Pick<TargetsHost, 'clock'>,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  const deadlineMs = clock.now().getTime() + BUSY_WAIT_MS
  for (;;) {
    const outcome = await attempt()
    if (outcome !== undefined) return outcome
    if (clock.now().getTime() >= deadlineMs) {
      throw new UserError('targets_busy', 'another svc-agent is applying targets')
    }
    await clock.sleep(BUSY_RETRY_MS)
  }
}

/** As the owner: root must not be led to the socket of another program. What no agent hears now is told next time. */
export function tellThroughSocket(
  owner: FileOwner,
  { dataDir, socketName }: AgentPaths,
): TellReport {
  return async (report) => {
    try {
      const answer = await actAs(owner, () => reportToRunningAgent(dataDir, socketName, report))
      return answer === undefined ? 'later' : 'taken'
    } catch (error) {
      if (error instanceof SvcError && error.code === 'report_refused') return 'refused'
      throw error
    }
  }
}

/** Who owns the agent's files: the user itself, unless that is root. docs/protocol.md TGT-14. */
export async function ownerOfData(
  { dataDir }: Pick<AgentConfig, 'dataDir'>,
  uid: number,
): Promise<FileOwner> {
  const stats = statSync(dataDir, { throwIfNoEntry: false })
  if (stats === undefined) {
    throw new UserError('no_data_dir', `there is no data directory at ${dataDir}`, {
      hint: 'run enroll first',
    })
  }
  if (uid !== 0) return { uid, gid: stats.gid }
  // A user who could put another directory there would choose whose rights root takes, and what it reads.
  const trusted = await readTrustedDirectories(dataDir, stats.uid)
  if (trusted.ok) return { uid: stats.uid, gid: stats.gid }
  throw new UserError('data_dir_open', `root applies nothing from ${dataDir}: ${trusted.reason}`)
}
