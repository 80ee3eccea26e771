// The files of the console, as a build packs them: inside the program, or in dist/console.json beside its source.

import { readFileSync, statSync } from 'node:fs'
import { errnoCode } from '../platform/errors.ts'

export interface PackedFile {
  /** Of an asset it holds a hash of what is in it: a name never has another content. */
  readonly name: string
  readonly type: string
  /** Of the content, in hex. */
  readonly sha256: string
  /** Base64. */
  readonly gzip: string
  readonly brotli: string
}

export interface PackedConsole {
  /** `page.html`, which every screen is, and its assets. */
  readonly files: readonly PackedFile[]
}

/** Put in place by the build; a hub that runs from its source has none. */
declare const SVC_BUILD_CONSOLE: PackedConsole | undefined

/** Undefined in a bundle, which lies nowhere beside its source: its build leaves this empty. */
const OWN_PLACE: string = import.meta.url
const BESIDE_THE_SOURCE: URL | undefined =
  OWN_PLACE === '' ? undefined : new URL('../../dist/console.json', OWN_PLACE)

/** Undefined where the program runs from its source. */
export function findBuiltIn(): PackedConsole | undefined {
  return typeof SVC_BUILD_CONSOLE === 'object' ? SVC_BUILD_CONSOLE : undefined
}

/** Undefined where nobody built the console beside the source. */
export function readBesideSource(): PackedConsole | undefined {
  if (BESIDE_THE_SOURCE === undefined) return undefined
  try {
    return JSON.parse(readFileSync(BESIDE_THE_SOURCE, 'utf8')) as PackedConsole
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** When it was built; undefined where it was not. */
export function builtBesideSourceAtMs(): number | undefined {
  if (BESIDE_THE_SOURCE === undefined) return undefined
  return statSync(BESIDE_THE_SOURCE, { throwIfNoEntry: false })?.mtimeMs
}
