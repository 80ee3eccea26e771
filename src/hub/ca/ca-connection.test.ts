import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '../../platform/clock.ts'
import { createCaConnection } from './ca-connection.ts'

const ANSWERED_MS_MAX = 5000

test('[CAX-8] a CA that takes connections and never says a word is waited for as long as the signal says', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const origin = `https://127.0.0.1:${port}`
  const connection = createCaConnection({ origin, rootPem: '', connectionsMax: 1 })
  try {
    const ask = async (): Promise<string> => {
      const signal = AbortSignal.timeout(200)
      const outcome = connection
        .send({ method: 'GET', path: '/health', signal })
        .then(() => 'answered', String)
      return Promise.race([outcome, systemClock.sleep(ANSWERED_MS_MAX).then(() => 'late')])
    }
    // The second finds the connection that the first is still waiting for.
    assert.match(await ask(), /TimeoutError/)
    assert.match(await ask(), /TimeoutError/)
  } finally {
    await connection.close()
    for (const socket of sockets) socket.destroy()
    silent.close()
  }
})
