// Between a hub and its PostgreSQL, in the clear: passes on what it gets, and keeps back what the server says to a COMMIT while it is told to.

import { startTcpProxy } from '../fakes/tcp-proxy.ts'

export interface SilentCommits extends AsyncDisposable {
  readonly port: number
  /** From now on; each connection that has sent one hears nothing more. */
  isSilent: boolean
  /** COMMITs of which nobody has heard. */
  readonly unheard: number
}

export async function startSilentCommits(targetPort: number): Promise<SilentCommits> {
  const state = { isSilent: false, unheard: 0 }
  const proxy = await startTcpProxy({ port: targetPort }, (client, upstream) => {
    let isUnheard = false
    client.on('data', (chunk) => {
      if (state.isSilent && chunk.includes('COMMIT')) {
        isUnheard = true
        state.unheard += 1
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (!isUnheard) client.write(chunk)
    })
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
  })
  return {
    ...proxy,
    get isSilent() {
      return state.isSilent
    },
    set isSilent(isSilent) {
      state.isSilent = isSilent
    },
    get unheard() {
      return state.unheard
    },
  }
}
