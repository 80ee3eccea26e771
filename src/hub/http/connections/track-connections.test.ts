import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server } from 'node:net'
import { test } from 'node:test'
import { trackConnections } from './track-connections.ts'

class Connection extends EventEmitter {
  destroyed = false
  destroy(): void {
    this.destroyed = true
  }
}

for (const [what, isTls, arrival] of [
  ['without TLS', false, 'connection'],
  ['with TLS', true, 'secureConnection'],
] as const) {
  test(`[BOOT-18] a port ${what} that stops cuts who is idle, and who comes only then`, () => {
    const server = new EventEmitter()
    const connections = trackConnections(server as Server, isTls)
    const arrive = (): Connection => {
      const connection = new Connection()
      server.emit(arrival, connection)
      return connection
    }
    const [idle, busy] = [arrive(), arrive()]
    connections.begin(busy as never)
    connections.cutIdle()
    assert.deepEqual(
      [idle, busy, arrive()].map(({ destroyed }) => destroyed),
      [true, false, true],
    )
  })
}
