// What the programs are built for: Linux on one of two architectures.

import { UserError } from '../../src/platform/errors.ts'

/** In Node's words. */
export type Architecture = 'x64' | 'arm64'

export const ARCHITECTURES: readonly Architecture[] = ['x64', 'arm64']

/** In Debian's words, as in the names of packages. */
export const DEBIAN_NAMES: Readonly<Record<Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** In GNU's words, as in the names of tools. */
export const GNU_NAMES: Readonly<Record<Architecture, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/** That of this machine. */
export function ownArchitecture(): Architecture {
  const own = ARCHITECTURES.find((architecture) => architecture === process.arch)
  if (own !== undefined && process.platform === 'linux') return own
  throw new UserError(
    'architecture_unknown',
    `nothing is built on ${process.platform}-${process.arch}`,
    { hint: 'Linux on x64 and arm64 is supported' },
  )
}
