// Versions of releases, MAJOR.MINOR.PATCH (https://semver.org, without pre-releases), and what a release says of itself.

export type ReleaseVersion = readonly [major: number, minor: number, patch: number]

export type ReleaseClaim =
  | { readonly ok: true; readonly version: string; readonly file: string }
  | { readonly ok: false; readonly reason: string }

const VERSION = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/

export function parseReleaseVersion(text: string): ReleaseVersion | undefined {
  const match = VERSION.exec(text)
  if (match === null) return undefined
  return [Number(match[1]), Number(match[2]), Number(match[3])]
}

/** Below 0 when `left` is the older one, 0 when they are the same. */
export function compareReleaseVersions(left: ReleaseVersion, right: ReleaseVersion): number {
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}

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
