import { hostname } from 'node:os'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import { describeError } from '../../platform/errors.ts'
import { type AgentConfig, parseAgentConfig } from '../settings/config.ts'
import { readInstalledFile } from '../delivery/installed-file.ts'
import { readInstalledPair } from '../delivery/installed-pair.ts'
import { agentPaths } from '../settings/paths.ts'
import { checkPlaces, missingDirectories } from '../targets/check-places.ts'
import { loadTargets } from '../targets/load-targets.ts'
import { currentApplier } from '../targets/target-applier.ts'
import {
  type DeliveryOnHost,
  describeTarget,
  type ExplainedTarget,
  formatProblem,
  formatTarget,
} from '../targets/target-explanation.ts'
import type { Target, TargetProblem } from '../targets/target.ts'
import { readTrustedDirectories } from '../files/trusted-path.ts'
import { type Environment, print } from './context.ts'

/** Says what the targets would do and what is wrong with them; changes nothing. Exit status 1 when anything is wrong. */
export async function runTargetsCheck(env: Environment, options: { json: boolean }): Promise<void> {
  const config = parseAgentConfig(env, { command: 'targets', osHostname: hostname() })
  // Root's own targets are checked with the rights that they are applied with; nothing of the agent's is read yet.
  if (!(await readTrustedDirectories(config.targetsDir, 0)).ok) becomeOwnerOf(config.dataDir)
  const paths = agentPaths(config)
  const applier = currentApplier(config, paths)
  const { targets, problems: found } = await loadTargets(config.targetsDir, applier)
  const problems: TargetProblem[] = [...found]
  const newDirectories = new Map<Target, string[]>()
  for (const target of targets) {
    problems.push(...(await checkPlaces(target, { ...applier, uid: target.appliedBy })))
    newDirectories.set(target, await missingDirectories(target))
  }
  becomeOwnerOf(config.dataDir)
  const explained: ExplainedTarget[] = []
  for (const target of targets) {
    const delivery = await readDelivery(paths.outDir, target)
    explained.push({ target, delivery, newDirectories: newDirectories.get(target) ?? [] })
  }
  await report(config, explained, problems, options)
}

async function readDelivery(outDir: string, { artefact, name }: Target): Promise<DeliveryOnHost> {
  try {
    if (artefact === 'file') {
      const file = await readInstalledFile(outDir, name)
      return file === undefined
        ? { state: 'missing' }
        : { state: 'installed', version: file.record.version }
    }
    const pair = await readInstalledPair(outDir, name)
    if (pair === undefined) return { state: 'missing' }
    return { state: 'installed', serial: pair.leaf.serial, notAfter: pair.leaf.notAfter }
  } catch (error) {
    return { state: 'unreadable', reason: describeError(error) }
  }
}

async function report(
  { targetsDir, language }: Pick<AgentConfig, 'targetsDir' | 'language'>,
  explained: readonly ExplainedTarget[],
  problems: readonly TargetProblem[],
  options: { json: boolean },
): Promise<void> {
  const ok = problems.length === 0
  const document = {
    ok,
    targets_dir: targetsDir,
    targets: explained.map((one) => describeTarget(one)),
    problems: problems.map(({ source, line = null, reason }) => ({ source, line, reason })),
  }
  const nothing = ok ? [`no targets in ${targetsDir}`] : []
  const texts =
    explained.length === 0 ? nothing : explained.map((one) => formatTarget(language, one))
  if (options.json || texts.length > 0) await print(document, options, texts.join('\n\n'))
  if (ok) return
  process.exitCode = 1
  if (options.json) return
  for (const problem of problems) process.stderr.write(`${formatProblem(problem)}\n`)
}
