// A TCP proxy that cuts connections where it is told to. Toxiproxy's toxics act on every connection of a proxy by chance
// that nobody can seed, and cannot tell one request of a connection from the next: which reply is lost, and that the
// next try gets through, has to be known here.

import type { Socket } from 'node:net'
import { startTcpProxy } from './tcp-proxy.ts'

/**
 * `request` cuts with a part of the request sent, `before` when the server has answered and nothing of that was passed
 * on, `during` with a part of the answer, `after` when all of it was passed on.
 */
export type CutMoment = 'request' | 'before' | 'during' | 'after'

export interface Cut {
  /** Which request of its connection, from 1; in TLS the first is the client's hello. */
  readonly turn: number
  readonly moment: CutMoment
  /** How much of what is cut gets through, from 0 to 1. */
  readonly share: number
}

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number
  /** Each new connection takes the next of these; one that finds none is left alone. */
  plan(...cuts: readonly Cut[]): void
  /** Forgets what no connection has taken yet. */
  forgetPlan(): void
  /** How often it has cut at which moment. */
  readonly cuts: ReadonlyMap<CutMoment, number>
}

export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const planned: Cut[] = []
  const cuts = new Map<CutMoment, number>()
  const proxy = await startTcpProxy({ port: targetPort }, (client, upstream) =>
    join(client, upstream, planned.shift(), (moment) => {
      cuts.set(moment, (cuts.get(moment) ?? 0) + 1)
    }),
  )
  return {
    ...proxy,
    plan: (...more) => void planned.push(...more),
    forgetPlan: () => void planned.splice(0),
    cuts,
  }
}

function join(
  client: Socket,
  upstream: Socket,
  cut: Cut | undefined,
  note: (moment: CutMoment) => void,
): void {
  let turn = 0
  let isAnswering = true
  let isCut = false
  client.on('data', (chunk) => {
    if (isCut) return
    if (isAnswering) turn += 1
    isAnswering = false
    if (cut?.moment !== 'request' || cut.turn !== turn) {
      upstream.write(chunk)
      return
    }
    isCut = true
    note(cut.moment)
    upstream.write(partOf(chunk, cut.share), () => upstream.resetAndDestroy())
    client.resetAndDestroy()
  })
  upstream.on('data', (chunk) => {
    if (isCut) return
    isAnswering = true
    if (cut === undefined || cut.moment === 'request' || cut.turn !== turn) {
      client.write(chunk)
      return
    }
    isCut = true
    note(cut.moment)
    upstream.resetAndDestroy()
    if (cut.moment === 'before') client.resetAndDestroy()
    // In order, since a reset would take back what the client has not read yet.
    else client.end(cut.moment === 'after' ? chunk : partOf(chunk, cut.share))
  })
  client.once('close', () => upstream.destroy())
  upstream.once('close', () => (isCut ? undefined : client.destroy()))
}

/** At least a byte, and never all of it. */
function partOf(chunk: Buffer, share: number): Buffer {
  return chunk.subarray(0, Math.max(1, Math.floor((chunk.length - 1) * share)))
}
