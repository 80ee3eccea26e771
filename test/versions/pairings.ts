// This version with each that was released, both ways round.

import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { ensureReleasedVersions } from './released-versions.ts'

export interface Pairing {
  readonly name: string
  readonly skip: string | false
  /** Their bin/. */
  readonly programs: { readonly agent: string; readonly hub: string }
}

/** The bin/ of this tree, or what stands in for it, as startProgram finds it. */
export const OURS = ''

export async function listPairings(): Promise<Pairing[]> {
  const versions = await ensureReleasedVersions()
  return versions.flatMap(({ version, skip, programs }) => [
    {
      name: `an agent ${version} with this hub`,
      skip,
      programs: { agent: programs, hub: OURS },
    },
    {
      name: `this agent with a hub ${version}`,
      skip,
      programs: { agent: OURS, hub: programs },
    },
  ])
}

/** A new vault of that version, too. */
export function startHubOf(ca: RunningCa, programs: string): Promise<HubProcess> {
  return startHubProcess({
    caEnvironment: ca.environment,
    environment: { SVC_SERVER_CN: 'localhost' },
    programs,
  })
}

/** Whether what came with version `since` is unknown to `version`; both are MAJOR.MINOR.PATCH. */
export function isBefore(version: string, since: string): boolean {
  const [parts, partsSince] = [version, since].map((text) => text.split('.').map(Number))
  for (const index of [0, 1, 2]) {
    const difference = (parts?.[index] ?? 0) - (partsSince?.[index] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}
