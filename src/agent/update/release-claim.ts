// What a release says of itself, in the signed comment.

import { parseReleaseVersion } from '../../protocol/release-version.ts'

export type ReleaseClaim =
  | { readonly ok: true; readonly version: string; readonly file: string }
  | { readonly ok: false; readonly reason: string }

/** `version:X.Y.Z` and `file:NAME` among the words of a trusted comment, exactly one of each. */
export function parseReleaseClaim(trustedComment: string): ReleaseClaim {
  const words = trustedComment.split(/[ \t]+/)
  const valuesOf = (name: string): string[] =>
    words.filter((word) => word.startsWith(`${name}:`)).map((word) => word.slice(name.length + 1))
  const [version, ...otherVersions] = valuesOf('version')
  const [file, ...otherFiles] = valuesOf('file')
  if (version === undefined || file === undefined) {
    return { ok: false, reason: 'names no version or no file' }
  }
  if (otherVersions.length > 0 || otherFiles.length > 0) {
    return { ok: false, reason: 'names more than one version or file' }
  }
  if (parseReleaseVersion(version) === undefined) {
    return { ok: false, reason: 'names a version that is not MAJOR.MINOR.PATCH' }
  }
  return { ok: true, version, file }
}
