import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { openSocketPath } from './unix-socket.ts'

describe('openSocketPath', () => {
  test('leaves a path of 107 bytes as it is', () => {
    const path = `/${'d'.repeat(100)}/a.sock`.slice(0, 107)
    assert.equal(openSocketPath(path).path, path)
  })

  test('makes a longer one short enough to bind and to connect', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'd'.repeat(110)))
    const bound = openSocketPath(join(directory, 'a.sock'))
    const reached = openSocketPath(join(directory, 'a.sock'))
    const server = createServer((socket) => socket.end())
    try {
      await once(server.listen(bound.path), 'listening')
      const socket = connect(reached.path)
      await once(socket, 'connect')
      socket.destroy()
    } finally {
      server.close()
      await once(server, 'close')
      bound.release()
      reached.release()
      await rm(directory, { recursive: true })
    }
  })

  test('counts bytes, not characters', () => {
    const opened = openSocketPath(`/tmp/${'é'.repeat(60)}`)
    assert.match(opened.path, /^\/proc\/self\/fd\/\d+\//)
    opened.release()
  })
})
