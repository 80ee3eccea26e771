// Between hubs and servers that speak in the clear: passes on what it gets, and cuts connections around a COMMIT when it is told to.

import type { Socket } from 'node:net'
import { startTcpProxy } from '../fakes/tcp-proxy.ts'
import type { Random } from '../simulation/seeded-random.ts'

/** Before the server has it, when it has it, and without a word for longer than a hub waits. */
const MOMENTS = ['before', 'after', 'silent'] as const
const SILENCE_MS = 4000
const COMMIT = 'COMMIT'

export interface CommitProxy extends AsyncDisposable {
  /** One for each of the servers. */
  readonly ports: readonly number[]
  /** From now on this share of them; 0 for none. */
  cutShare: number
  readonly cuts: number
}

interface Cutting {
  cutShare: number
  cuts: number
}

export async function startCommitProxy(
  addresses: readonly string[],
  random: Random,
): Promise<CommitProxy> {
  const cutting: Cutting = { cutShare: 0, cuts: 0 }
  await using stack = new AsyncDisposableStack()
  const ports: number[] = []
  for (const host of addresses) {
    const proxy = await startTcpProxy({ host, port: 5432 }, (client, upstream) =>
      join(client, upstream, cutting, random),
    )
    ports.push(stack.use(proxy).port)
  }
  const kept = stack.move()
  return {
    ports,
    get cutShare() {
      return cutting.cutShare
    },
    set cutShare(share) {
      cutting.cutShare = share
    },
    get cuts() {
      return cutting.cuts
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function join(client: Socket, upstream: Socket, cutting: Cutting, random: Random): void {
  let isSilent = false
  const end = (): void => {
    client.resetAndDestroy()
    upstream.destroy()
  }
  client.on('data', (chunk) => {
    if (!chunk.includes(COMMIT) || random() >= cutting.cutShare) {
      upstream.write(chunk)
      return
    }
    cutting.cuts += 1
    const moment = MOMENTS[Math.floor(random() * MOMENTS.length)]
    if (moment === 'before') {
      end()
      return
    }
    isSilent = true
    upstream.write(chunk)
    if (moment === 'silent') setTimeout(end, SILENCE_MS).unref()
    // What the server answers is its sign that it has read it.
    else upstream.once('data', end)
  })
  upstream.on('data', (chunk) => {
    if (!isSilent) client.write(chunk)
  })
  client.once('close', () => upstream.destroy())
  upstream.once('close', () => client.destroy())
}
