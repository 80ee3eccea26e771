// The console that a hub serves: the one that is built in, or for a hub that runs from its source the newest one beside that.

import { type ConsoleFiles, createConsoleFiles } from './console-files.ts'
import { builtBesideSourceAtMs, findBuiltIn, readBesideSource } from './packed-console.ts'

/** Undefined where there is none. */
export function openConsole(): ConsoleFiles | undefined {
  const builtIn = findBuiltIn()
  return builtIn === undefined ? openBesideSource() : createConsoleFiles(builtIn)
}

/** Whoever works on the console sees what was built last, without another start of the hub. */
function openBesideSource(): ConsoleFiles | undefined {
  let atMs = builtBesideSourceAtMs()
  const first = readBesideSource()
  if (first === undefined) return undefined
  let files = createConsoleFiles(first)
  return (request) => {
    const newestMs = builtBesideSourceAtMs()
    const newest = newestMs === atMs ? undefined : readBesideSource()
    if (newest !== undefined) {
      atMs = newestMs
      files = createConsoleFiles(newest)
    }
    return files(request)
  }
}
