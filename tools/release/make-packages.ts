// The Debian packages, from what the build made.

import { join } from 'node:path'
import { UserError } from '../../src/platform/errors.ts'
import { ROOT } from '../source-files.ts'
import { readCompletions } from './completions.ts'
import { buildDebianPackage } from './debian-package.ts'
import { agentPackage, cliPackage, serverPackage } from './packages.ts'
import { collectLicences } from './third-party-licences.ts'

export interface PackagesInput {
  /** Where svc-agent, the bundles of hub and CLI, and their addon are. */
  readonly programs: string
  /** The Node that hub and CLI run on. */
  readonly node: string
  readonly version: string
  readonly releasedAt: Date
  readonly outputDirectory: string
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Hub and agent. Returns the packages' paths. */
export async function makePackages(input: PackagesInput): Promise<string[]> {
  const architecture = findArchitecture()
  const sources = { ...input, licences: await collectLicences(ROOT) }
  const agent = await readCompletions([join(input.programs, 'svc-agent')])
  const svc = await readCompletions([input.node, join(input.programs, 'svc.cjs')])
  const descriptions = [agentPackage(sources, agent), serverPackage(sources, svc)]
  return Promise.all(
    descriptions.map((description) => buildDebianPackage(description, { ...input, architecture })),
  )
}

/** The CLI alone. Returns the package's path. */
export async function makeCliPackage(input: Omit<PackagesInput, 'node'>): Promise<string> {
  const completions = await readCompletions([join(input.programs, 'svc')])
  const sources = { ...input, licences: await collectLicences(ROOT) }
  const architecture = findArchitecture()
  return buildDebianPackage(cliPackage(sources, completions), { ...input, architecture })
}

function findArchitecture(): string {
  const architecture = ARCHITECTURES[process.arch]
  if (architecture !== undefined) return architecture
  throw new UserError('architecture_unknown', `there is no package for ${process.arch}`)
}
