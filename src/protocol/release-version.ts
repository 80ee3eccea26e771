// Versions of releases, MAJOR.MINOR.PATCH (https://semver.org, without pre-releases).

export type ReleaseVersion = readonly [major: number, minor: number, patch: number]

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
