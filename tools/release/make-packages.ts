// The Debian packages, from what the build made.

import { join } from 'node:path'
import { type Architecture, DEBIAN_NAMES, ownArchitecture } from '../build/architecture.ts'
import { ROOT } from '../source-files.ts'
import { readCompletions } from './completions.ts'
import { buildDebianPackage } from './debian-package.ts'
import { agentPackage, cliPackage, serverPackage } from './packages.ts'
import { collectLicences } from './third-party-licences.ts'

interface BuiltPrograms {
  /** Where svc-agent, the bundles of hub and CLI, and their addon are. */
  readonly programs: string
  /** The Node that hub and CLI run on. */
  readonly node: string
}

export interface PackagesInput extends BuiltPrograms {
  /** What the programs are for; this machine's unless given. */
  readonly architecture?: Architecture
  /** The same programs as they run here, to be asked for their completions, when the others do not. */
  readonly native?: BuiltPrograms
  readonly version: string
  readonly releasedAt: Date
  readonly outputDirectory: string
}

/** Hub and agent. Returns the packages' paths. */
export async function makePackages(input: PackagesInput): Promise<string[]> {
  const { architecture = ownArchitecture(), native = input } = input
  const sources = { ...input, licences: await collectLicences(ROOT, architecture) }
  const agent = await readCompletions([join(native.programs, 'svc-agent')])
  const svc = await readCompletions([native.node, join(native.programs, 'svc.cjs')])
  const descriptions = [agentPackage(sources, agent), serverPackage(sources, svc)]
  return Promise.all(
    descriptions.map((description) =>
      buildDebianPackage(description, { ...input, architecture: DEBIAN_NAMES[architecture] }),
    ),
  )
}

/** The CLI alone. Returns the package's path. */
export async function makeCliPackage(input: Omit<PackagesInput, 'node'>): Promise<string> {
  const { architecture = ownArchitecture(), native = input } = input
  const completions = await readCompletions([join(native.programs, 'svc')])
  const sources = { ...input, licences: await collectLicences(ROOT, architecture) }
  return buildDebianPackage(cliPackage(sources, completions), {
    ...input,
    architecture: DEBIAN_NAMES[architecture],
  })
}
