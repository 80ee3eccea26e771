// The programs of a release for another architecture than that of the machine that makes it.

import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildAgentExecutable } from '../build/agent-executable.ts'
import type { Architecture } from '../build/architecture.ts'
import type { BuildSettings } from '../build/build-settings.ts'
import { STORE_ADDON } from '../build/bundle-program.ts'
import { buildCliExecutable } from '../build/cli-executable.ts'
import { copyStoreAddon } from '../build/store-addon.ts'

/** The same on every architecture. */
const BUNDLES = ['svc-server.cjs', 'svc.cjs']

export interface ForeignPrograms {
  /** Where the programs of the build are. */
  readonly native: string
  readonly architecture: Architecture
  readonly settings: BuildSettings
}

/** Puts into `directory` what the build has made for this machine, for another architecture. */
export async function makeForeignPrograms(
  directory: string,
  { native, architecture, settings }: ForeignPrograms,
): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const bundle of BUNDLES) await copyFile(join(native, bundle), join(directory, bundle))
  await copyStoreAddon(join(directory, STORE_ADDON), architecture)
  await buildAgentExecutable(join(directory, 'svc-agent'), settings, architecture)
  await buildCliExecutable(join(directory, 'svc'), settings, architecture)
}
