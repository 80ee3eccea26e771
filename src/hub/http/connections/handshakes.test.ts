import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server } from 'node:net'
import { test } from 'node:test'
import { handshakesOf } from './handshakes.ts'

test('[LIM-19] each handshake that begins ends, whatever the system knows of its peer', () => {
  const server = new EventEmitter()
  let underWay = 0
  const handshakes = handshakesOf(server as Server)
  handshakes.addListener({
    begun: () => (underWay += 1),
    ended: () => (underWay -= 1),
  })
  const connect = (peer: object): EventEmitter => {
    const socket = Object.assign(new EventEmitter(), peer)
    server.emit('connection', socket)
    return socket
  }
  const samePort = { remoteAddress: '192.0.2.1', remotePort: 1024 }
  // Reset before they were accepted; and a port that is used again before the end of its last connection is known.
  for (const peer of [{}, samePort]) {
    const sockets = [connect(peer), connect(peer), connect(peer)]
    assert.equal(underWay, 1)
    for (const socket of sockets) socket.emit('close')
    assert.equal(underWay, 0)
  }
  assert.deepEqual([...handshakes.underWay()], [])
})
