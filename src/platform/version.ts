import { readFileSync } from 'node:fs'

/** The version of all four programs, MAJOR.MINOR.PATCH, from the one place that states it. */
export function readVersion(): string {
  const manifest = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { version: string }
  return manifest.version
}
