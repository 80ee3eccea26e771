import { closeSync, constants, openSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** What fits into `sun_path` of unix(7) beside its final NUL; a longer name would be cut off or refused. */
const SOCKET_PATH_BYTES_MAX = 107

export interface SocketPath {
  /** Leads to the socket until `release`. */
  readonly path: string
  release(): void
}

/** The path to give to bind or connect: a longer one goes through the descriptor of its directory. */
export function openSocketPath(path: string): SocketPath {
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return { path, release: () => undefined }
  const descriptor = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  return {
    path: `/proc/self/fd/${descriptor}/${basename(path)}`,
    release: () => closeSync(descriptor),
  }
}
