// A Unix socket that its owner alone can open.

import { chmod, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import type { Server } from 'node:net'
import { dirname, join } from 'node:path'
import { describeError, SvcError } from '../../platform/errors.ts'
import { openSocketPath } from '../../platform/unix-socket.ts'

/** Binds inside a directory that only we can enter, so that the socket has its mode before anyone can reach it. */
export async function bindPrivately(server: Server, socketPath: string): Promise<void> {
  const stagingDirectory = `${socketPath}.new`
  const staged = join(stagingDirectory, 's')
  try {
    await rm(stagingDirectory, { recursive: true, force: true })
    await mkdir(stagingDirectory, { mode: 0o700 })
    await listen(server, staged)
    await chmod(staged, 0o600)
    await rename(staged, socketPath)
    await rmdir(stagingDirectory)
  } catch (error) {
    server.close()
    const reason = describeError(error)
    throw new SvcError('admin_socket_failed', `cannot listen on ${socketPath}: ${reason}`, {
      cause: error,
      hint: `check the owner and mode of ${dirname(socketPath)}`,
    })
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const address = openSocketPath(path)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(address.path, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } finally {
    address.release()
  }
}
