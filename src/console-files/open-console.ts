// The console that a hub serves: the one that is built in, or for a hub that runs from its source the newest one beside that.

import { type ConsoleFiles, createConsoleFiles } from './console-files.ts'
import {
  builtBesideSourceAtMs,
  findBuiltIn,
  type PackedConsole,
  readBesideSource,
} from './packed-console.ts'

/** Undefined where there is none. */
export function openConsole(): ConsoleFiles | undefined {
  const builtIn = findBuiltIn()
  if (builtIn !== undefined) return createConsoleFiles(builtIn)
  return openNewest({ builtAtMs: builtBesideSourceAtMs, read: readBesideSource })
}

/** Where builds are put one after the other. */
export interface BuiltConsole {
  builtAtMs(this: void): number | undefined
  read(this: void): PackedConsole | undefined
}

/** People who work on the console see what was built last, without another start of the hub. */
export function openNewest({ builtAtMs, read }: BuiltConsole): ConsoleFiles | undefined {
  let atMs = builtAtMs()
  const first = read()
  if (first === undefined) return undefined
  let files = createConsoleFiles(first)
  return (request) => {
    const newestMs = builtAtMs()
    const newest = newestMs === atMs ? undefined : read()
    if (newest !== undefined) {
      atMs = newestMs
      files = createConsoleFiles(newest)
    }
    return files(request)
  }
}
