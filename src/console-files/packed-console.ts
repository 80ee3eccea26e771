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

const BESIDE_THE_SOURCE = new URL('../../dist/console.json', import.meta.url)

/** Undefined where the program runs from its source. */
export function findBuiltIn(): PackedConsole | undefined {
  return typeof SVC_BUILD_CONSOLE === 'object' ? SVC_BUILD_CONSOLE : undefined
}

/** Undefined where nobody built the console beside the source. */
export function readBesideSource(): PackedConsole | undefined {
  try {
    return JSON.parse(readFileSync(BESIDE_THE_SOURCE, 'utf8')) as PackedConsole
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** When it was built; undefined where it was not. */
export function builtBesideSourceAtMs(): number | undefined {
  return statSync(BESIDE_THE_SOURCE, { throwIfNoEntry: false })?.mtimeMs
}
