// What `adopt` works with on this host: root's targets, their state, and passes over them.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import { createLoggingFromEnvironment } from '../../platform/logger.ts'
import { AdoptionStore } from '../adopt/adoption-store.ts'
import { createConfigReader } from '../adopt/config-reader.ts'
import { type FoundUses, findUses } from '../adopt/find-uses.ts'
import type { Proposal } from '../adopt/proposal.ts'
import { propose } from '../adopt/propose.ts'
import { askUnit, createRealHost, type TargetPasses } from '../adopt/real-host.ts'
import { findAcmeSh } from '../adopt/renewers/acme-sh.ts'
import { findCertManagerCsi } from '../adopt/renewers/cert-manager-csi.ts'
import { findCertbot } from '../adopt/renewers/certbot.ts'
import { findStep } from '../adopt/renewers/step.ts'
import { findServices, listProcesses } from '../adopt/running-services.ts'
import { ownHome } from '../delivery/run-hook.ts'
import { readTrustedDirectories } from '../files/trusted-path.ts'
import { type AgentConfig, parseAgentConfig } from '../settings/config.ts'
import { agentPaths } from '../settings/paths.ts'
import { openAppliedStore } from '../targets/applied-store.ts'
import { type PassOptions, targetIdOf } from '../targets/apply-targets.ts'
import { loadTargets } from '../targets/load-targets.ts'
import type { PassOutcome, TargetsHost } from '../targets/run-pass.ts'
import { currentApplier } from '../targets/target-applier.ts'
import { nodeTargetFiles } from '../targets/target-files.ts'
import { prepareTargetsState, targetsStateDir, tryLockTargets } from '../targets/targets-state.ts'
import type { Environment } from './context.ts'
import { ownerOfData, passWhenFree, tellThroughSocket, whenFree } from './roots-passes.ts'

export interface AdoptPlaces {
  readonly config: AgentConfig
  readonly hostname: string
  readonly stateDir: string
  /** Where acme.sh may be. */
  readonly homes: readonly string[]
  readonly targets: Omit<TargetsHost, 'owner'>
}

/** Services' configurations and keys are root's to read, and root's targets are what takes them over. */
export async function openAdoptPlaces(env: Environment): Promise<AdoptPlaces> {
  if (process.geteuid?.() !== 0) {
    throw new UserError('needs_root', 'adopt reads the settings and the keys of services', {
      hint: 'run it as root',
    })
  }
  const config = parseAgentConfig(env, { command: 'targets', osHostname: hostname() })
  const paths = agentPaths(config)
  const log = (await createLoggingFromEnvironment(env)).forModule('agent.adopt')
  return {
    config,
    hostname: config.hostname ?? hostname(),
    stateDir: targetsStateDir(config, 0),
    homes: [...new Set([env['HOME'] ?? ownHome(), ownHome(), '/root'])],
    targets: { config, paths, applier: currentApplier(config, paths), clock: systemClock, log },
  }
}

export function storeIn({ stateDir }: AdoptPlaces, passes: TargetPasses) {
  const host = createRealHost(passes)
  return { host, store: new AdoptionStore(join(stateDir, 'adopt'), host) }
}

/** What can be seen and changed as root of an enrolled host. Throws a UserError where root can have no targets. */
export async function prepareToChange(places: AdoptPlaces): Promise<TargetsHost> {
  const { config, stateDir, targets } = places
  const trusted = await readTrustedDirectories(config.targetsDir, 0)
  if (!trusted.ok) {
    throw new UserError('targets_dir', `root has no targets there: ${trusted.reason}`, {
      hint: `install -d -o root -g root -m 755 ${config.targetsDir}`,
    })
  }
  const owner = await ownerOfData(config, 0)
  await prepareTargetsState(stateDir, 0)
  return { ...targets, owner }
}

export function passesOf(places: AdoptPlaces, host: TargetsHost): TargetPasses {
  const tell = tellThroughSocket(host.owner, agentPaths(places.config))
  const pass = (options: PassOptions): Promise<PassOutcome> => passWhenFree(host, options, tell)
  return {
    async applyTarget(nome, source) {
      const { results, problems } = await pass({ only: nome, isForced: true })
      const own = results.find((one) => one.source === source)
      if (own?.result === 'applied' || own?.result === 'up_to_date') {
        return { serial: own.serial ?? undefined, reason: own.result }
      }
      const said = own === undefined ? problems.join('\n') : `${own.result}: ${own.detail ?? ''}`
      return { serial: undefined, reason: [said, own?.output ?? ''].join('\n').trim() }
    },
    async listApplied(source) {
      const applied = await openAppliedStore(places.stateDir, nodeTargetFiles)
      const files = applied.find(targetIdOf(source))?.applied?.files ?? []
      return files.map(({ path, sha256 }) => ({ path, sha256 }))
    },
    async settleTarget(nome, source) {
      const { problems } = await pass({ only: nome })
      const stuck = problems.find((problem) => problem.startsWith(`${source}: the agent cannot`))
      if (stuck !== undefined) throw new UserError('target_stuck', stuck)
    },
    async withoutPasses(work) {
      const lock = await whenFree(host, async () => tryLockTargets(places.stateDir))
      try {
        await work()
      } finally {
        lock.release()
      }
    },
  }
}

/** Changes nothing. With `only` for one, by its id. */
export async function planAdoption(
  { config, homes, targets: { applier } }: AdoptPlaces,
  store: AdoptionStore,
  only?: string,
): Promise<{ readonly proposals: Proposal[] } & Pick<FoundUses, 'remarks'>> {
  const found = findUses(findServices(listProcesses()), createConfigReader)
  const { targets } = await loadTargets(config.targetsDir, applier)
  const adoptions = await store.list()
  const adopted = new Map(
    adoptions.flatMap(({ id, phase, places }) =>
      places.map(({ path }) => [path, { id, isDone: phase === 'adopted' }] as const),
    ),
  )
  const units = { isEnabled: 'is-enabled', isActive: 'is-active' } as const
  const proposals = await propose(
    {
      targetsDir: config.targetsDir,
      applier,
      reader: createConfigReader({ countsAgain: false }),
      renewers: [
        findCertbot,
        findAcmeSh(homes),
        findStep(
          {
            isEnabled: (unit) => askUnit(units.isEnabled, unit),
            isActive: (unit) => askUnit(units.isActive, unit),
          },
          adoptions.flatMap(({ stops }) => stops),
        ),
        findCertManagerCsi,
      ],
      // Faulty ones too.
      takenFiles: new Set(createConfigReader().list(config.targetsDir)),
      takenPaths: new Set(targets.flatMap(({ files }) => files.map(({ path }) => path))),
      adopted,
    },
    found,
    only,
  )
  return { proposals, remarks: found.remarks }
}
