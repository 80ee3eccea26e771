import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import { systemClock } from '../../platform/clock.ts'
import { invariant, SvcError, UserError } from '../../platform/errors.ts'
import { createLoggingFromEnvironment } from '../../platform/logger.ts'
import { type AgentConfig, parseAgentConfig } from '../settings/config.ts'
import { type Language, stateIn } from '../../protocol/spoken-words.ts'
import { reportToRunningAgent } from '../control/control-socket.ts'
import { type AgentPaths, agentPaths } from '../settings/paths.ts'
import { actAs, type FileOwner } from '../files/act-as.ts'
import type { TargetResult } from '../targets/apply-targets.ts'
import {
  type PassOutcome,
  runPass,
  type TargetsHost,
  type TellReport,
} from '../targets/run-pass.ts'
import { currentApplier } from '../targets/target-applier.ts'
import { readTrustedDirectories } from '../files/trusted-path.ts'
import { type Environment, print } from './context.ts'

export interface TargetsApplyOptions {
  readonly json: boolean
  /** Also what failed, and is otherwise not due to be tried again yet. */
  readonly now?: boolean
}

const BUSY_RETRY_MS = 500
const BUSY_WAIT_MS = 120_000
const FAILED: readonly TargetResult['result'][] = ['reverted', 'held_back', 'stuck']

/** Applies the targets of the user who runs it. Exit status 1 when anything is not as it should be. */
export async function runTargetsApply(
  env: Environment,
  options: TargetsApplyOptions,
): Promise<void> {
  const config = parseAgentConfig(env, { command: 'targets', osHostname: hostname() })
  // Root applies what is root's alone; anything else it does as the agent's user, as every other command does.
  if (!(await readTrustedDirectories(config.targetsDir, 0)).ok) becomeOwnerOf(config.dataDir)
  const paths = agentPaths(config)
  const applier = currentApplier(config, paths)
  const host: TargetsHost = {
    config,
    paths,
    applier,
    owner: await ownerOf(config, applier.uid),
    clock: systemClock,
    log: (await createLoggingFromEnvironment(env)).forModule('agent.targets'),
  }
  const outcome = await passWhenFree(host, options, tellThroughSocket(host.owner, paths))
  show(config.language, outcome, options)
}

async function passWhenFree(
  host: TargetsHost,
  { now: isForced = false }: TargetsApplyOptions,
  tell: TellReport,
): Promise<PassOutcome> {
  const deadlineMs = host.clock.now().getTime() + BUSY_WAIT_MS
  for (;;) {
    const outcome = await runPass(host, { isForced }, tell)
    if (outcome !== undefined) return outcome
    if (host.clock.now().getTime() >= deadlineMs) {
      throw new UserError('targets_busy', 'another svc-agent is applying targets')
    }
    await host.clock.sleep(BUSY_RETRY_MS)
  }
}

/** As the owner: root must not be led to the socket of another program. What no agent hears now is told next time. */
function tellThroughSocket(owner: FileOwner, { dataDir, socketName }: AgentPaths): TellReport {
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
async function ownerOf({ dataDir }: Pick<AgentConfig, 'dataDir'>, uid: number): Promise<FileOwner> {
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

function show(
  language: Language,
  { results, problems, reportsWaiting }: PassOutcome,
  options: { json: boolean },
): void {
  const ok = problems.length === 0 && !results.some(({ result }) => FAILED.includes(result))
  const targets = results.map(({ source, name, result, serial, detail, output = null }) => {
    return { source, nome: name, result, serial, detail, output }
  })
  const document = { ok, targets, problems, reports_waiting: reportsWaiting }
  const lines = results.flatMap(({ source, name, result, detail, output = '' }) => [
    `${name} (${source}): ${stateIn(language, result)}${detail === null ? '' : `, ${detail}`}`,
    ...output.split('\n').flatMap((line) => (line === '' ? [] : `    ${line}`)),
  ])
  if (results.some(({ result }) => result === 'held_back')) {
    lines.push('svc-agent targets apply --now tries at once what is held back')
  }
  if (reportsWaiting > 0) lines.push(`reports that wait for the agent: ${reportsWaiting}`)
  if (lines.length === 0 && ok) lines.push('no targets to apply')
  invariant(ok || lines.length + problems.length > 0, 'the lines above name what failed')
  if (options.json || lines.length > 0) print(document, options, lines.join('\n'))
  if (ok) return
  process.exitCode = 1
  if (!options.json) for (const problem of problems) process.stderr.write(`${problem}\n`)
}
