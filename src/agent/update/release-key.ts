import { type MinisignPublicKey, parseMinisignPublicKey } from './minisign.ts'

/** Put in place by the build; a program that runs from its source has none. */
declare const SVC_RELEASE_PUBLIC_KEY: string | undefined

/** The key that releases are signed with; undefined in a build that was given none, which can install nothing. */
export function releasePublicKey(): MinisignPublicKey | undefined {
  if (typeof SVC_RELEASE_PUBLIC_KEY !== 'string') return undefined
  return parseMinisignPublicKey(SVC_RELEASE_PUBLIC_KEY)
}
