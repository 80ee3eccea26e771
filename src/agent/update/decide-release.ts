// Whether what a release server gave may be installed: only what the release key vouches for, and only forward.

import { type MinisignPublicKey, verifyMinisign } from '../../trust/minisign.ts'
import { architectureOf } from './program-architecture.ts'
import { compareReleaseVersions, parseReleaseVersion } from '../../protocol/release-version.ts'
import { parseReleaseClaim } from './release-claim.ts'

export interface OfferedRelease {
  readonly publicKey: MinisignPublicKey
  readonly content: Uint8Array
  readonly signature: Uint8Array
  readonly oldVersion: string
  /** Of the host, in Node's words. */
  readonly architecture: string
  readonly allowDowngrade: boolean
  /** It has to be this one; undefined for any. */
  readonly wantedVersion: string | undefined
}

export type ReleaseVerdict =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly hint: string }

const FILE = 'svc-agent'

export function decideRelease(offered: OfferedRelease): ReleaseVerdict {
  const { publicKey, content, signature, oldVersion, architecture, allowDowngrade, wantedVersion } =
    offered
  const verdict = verifyMinisign(publicKey, content, signature)
  if (!verdict.ok) {
    return refuse(
      'signature_invalid',
      'signature does NOT match binary — refusing to install',
      `${verdict.reason}; nothing was changed`,
    )
  }
  const claim = parseReleaseClaim(verdict.trustedComment)
  if (!claim.ok) {
    return refuse(
      'comment_invalid',
      `the signed comment ${claim.reason}`,
      `releases are signed with the trusted comment 'version:X.Y.Z file:${FILE}'`,
    )
  }
  if (claim.file !== FILE) {
    return refuse(
      'file_differs',
      `the signature is for the file ${claim.file}, not for ${FILE}`,
      'is this the URL of a release of the agent?',
    )
  }
  // A script says nothing of it.
  const builtFor = architectureOf(content) ?? architecture
  if (builtFor !== architecture) {
    return refuse(
      'architecture_differs',
      `this ${FILE} is for ${builtFor}, and the host is ${architecture}`,
      `a release has a directory for each architecture: end the URL with linux-${architecture}, or with {arch} on all hosts`,
    )
  }
  if (wantedVersion !== undefined && claim.version !== wantedVersion) {
    return refuse(
      'version_differs',
      `the release is version ${claim.version}, and ${wantedVersion} was announced`,
      'is {version} in SVC_AGENT_UPDATE_URL where the place of a release has its version?',
    )
  }
  if (!allowDowngrade && !isNewer(claim.version, oldVersion)) {
    return refuse('not_newer', describeNotNewer(claim.version, oldVersion), DOWNGRADE_HINT)
  }
  return { ok: true, version: claim.version }
}

export const DOWNGRADE_HINT = '--allow-downgrade installs it nevertheless'

export function describeNotNewer(offered: string, installed: string): string {
  return `version ${offered} is not newer than ${installed}`
}

/** Not newer than a version that cannot be read. */
export function isNewer(offered: string, installed: string): boolean {
  const left = parseReleaseVersion(offered)
  const right = parseReleaseVersion(installed)
  return left !== undefined && right !== undefined && compareReleaseVersions(left, right) > 0
}

function refuse(code: string, message: string, hint: string): ReleaseVerdict {
  return { ok: false, code, message, hint }
}
