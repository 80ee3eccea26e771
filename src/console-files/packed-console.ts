// The files of the console, as a build packs them: inside the program, or in dist/console.json beside its source.

import { readFileSync } from 'node:fs'
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

const BESIDE_THE_SOURCE = '../../dist/console.json'

/** Undefined where it runs from its source, and nobody built the console. */
export function readPackedConsole(): PackedConsole | undefined {
  if (typeof SVC_BUILD_CONSOLE === 'object') return SVC_BUILD_CONSOLE
  try {
    return JSON.parse(
      readFileSync(new URL(BESIDE_THE_SOURCE, import.meta.url), 'utf8'),
    ) as PackedConsole
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}
