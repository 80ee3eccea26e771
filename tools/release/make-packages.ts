// Both Debian packages, from what the build made.

import { join } from 'node:path'
import { UserError } from '../../src/platform/errors.ts'
import { ROOT } from '../source-files.ts'
import { readCompletions } from './completions.ts'
import { buildDebianPackage } from './debian-package.ts'
import { agentPackage, serverPackage } from './packages.ts'
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

/** Returns the packages' paths. */
export async function makePackages(input: PackagesInput): Promise<string[]> {
  const architecture = ARCHITECTURES[process.arch]
  if (architecture === undefined) {
    throw new UserError('architecture_unknown', `there is no package for ${process.arch}`)
  }
  const sources = { ...input, licences: await collectLicences(ROOT) }
  const agent = await readCompletions([join(input.programs, 'svc-agent')])
  const svc = await readCompletions([input.node, join(input.programs, 'svc.cjs')])
  const descriptions = [agentPackage(sources, agent), serverPackage(sources, svc)]
  return Promise.all(
    descriptions.map((description) => buildDebianPackage(description, { ...input, architecture })),
  )
}
