import { hostname } from 'node:os'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import { systemClock } from '../../platform/clock.ts'
import { invariant } from '../../platform/errors.ts'
import { createLoggingFromEnvironment } from '../../platform/logger.ts'
import { parseAgentConfig } from '../settings/config.ts'
import { type Language, stateIn } from '../../protocol/spoken-words.ts'
import { agentPaths } from '../settings/paths.ts'
import type { TargetResult } from '../targets/apply-targets.ts'
import type { PassOutcome, TargetsHost } from '../targets/run-pass.ts'
import { currentApplier } from '../targets/target-applier.ts'
import { readTrustedDirectories } from '../files/trusted-path.ts'
import { type Environment, print } from './context.ts'
import { ownerOfData, passWhenFree, tellThroughSocket } from './roots-passes.ts'

export interface TargetsApplyOptions {
  readonly json: boolean
  /** Also what failed, and is otherwise not due to be tried again yet. */
  readonly now?: boolean
}

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
    owner: await ownerOfData(config, applier.uid),
    clock: systemClock,
    log: (await createLoggingFromEnvironment(env)).forModule('agent.targets'),
  }
  const tell = tellThroughSocket(host.owner, paths)
  const outcome = await passWhenFree(host, { isForced: options.now === true }, tell)
  await show(config.language, outcome, options)
}

async function show(
  language: Language,
  { results, problems, reportsWaiting }: PassOutcome,
  options: { json: boolean },
): Promise<void> {
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
  if (options.json || lines.length > 0) await print(document, options, lines.join('\n'))
  if (ok) return
  process.exitCode = 1
  if (!options.json) for (const problem of problems) process.stderr.write(`${problem}\n`)
}
