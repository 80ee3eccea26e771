// What the environment of a build says.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseMinisignPublicKey } from '../../src/trust/minisign.ts'
import { parseReleaseVersion } from '../../src/protocol/release-version.ts'
import { UserError } from '../../src/platform/errors.ts'
import { ROOT } from '../source-files.ts'

export interface BuildSettings {
  /** What `--version` of the built programs prints. */
  readonly version: string
  /** The base64 line of a minisign `.pub` file; without one the agent refuses to update itself. */
  readonly releasePublicKey: string | undefined
}

export function parseBuildSettings(
  env: Readonly<Record<string, string | undefined>>,
): BuildSettings {
  const version = blankToUndefined(env['SVC_BUILD_VERSION']) ?? packageVersion()
  if (parseReleaseVersion(version) === undefined) {
    throw new UserError('version_invalid', `SVC_BUILD_VERSION is not MAJOR.MINOR.PATCH: ${version}`)
  }
  const releasePublicKey = blankToUndefined(env['SVC_RELEASE_PUBLIC_KEY'])
  if (releasePublicKey !== undefined && parseMinisignPublicKey(releasePublicKey) === undefined) {
    throw new UserError('key_invalid', 'SVC_RELEASE_PUBLIC_KEY is not a public key of minisign', {
      hint: 'it is the second line of the .pub file that minisign -G wrote',
    })
  }
  return { version, releasePublicKey }
}

function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string
  }
  return manifest.version
}

function blankToUndefined(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim()
}
