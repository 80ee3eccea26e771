import { readFileSync } from 'node:fs'

/** Put in place by the build; a program that runs from its source has none. */
declare const SVC_BUILD_VERSION: string | undefined

/** The version of all four programs, MAJOR.MINOR.PATCH, from the one place that states it. */
export function readVersion(): string {
  if (typeof SVC_BUILD_VERSION === 'string') return SVC_BUILD_VERSION
  const manifest = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { version: string }
  return manifest.version
}
