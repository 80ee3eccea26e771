import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server as TlsServer } from 'node:tls'
import { beforeEach, describe, test } from 'node:test'
import type { WaitingHello } from './handshake-turns.ts'
import { waitAfterFailure } from './wait-after-failure.ts'

/** As much of a socket as TCP knows of it. */
class Connection extends EventEmitter {
  static #ports = 1024
  readonly remoteAddress: string
  readonly remotePort = (Connection.#ports += 1)
  destroyed = false
  constructor(address: string) {
    super()
    this.remoteAddress = address
  }
  destroy(): void {
    this.destroyed = true
  }
  close(): void {
    this.destroyed = true
    this.emit('close')
  }
}

/** The limits are before it: such a connection is closed by them. */
const ONE_TOO_MANY = '192.0.2.9'
/** Whoever it is, and however its last handshake went. */
const STRANGER = '192.0.2.8'

describe('[LIM-24] a TLS handshake', () => {
  let server: EventEmitter
  let begun: Connection[]
  let waiting: ((outcome: 'begun' | 'full') => void)[]
  let isBusy: boolean
  let hellos: WaitingHello[]
  let dropped: number
  beforeEach(() => {
    server = new EventEmitter()
    begun = []
    waiting = []
    isBusy = false
    hellos = []
    dropped = 0
    server.on('connection', (connection: Connection) => begun.push(connection))
    server.on('connection', (connection: Connection) => {
      if (connection.remoteAddress === ONE_TOO_MANY) connection.close()
    })
    waitAfterFailure(server as TlsServer, {
      isStranger: (address) => address === STRANGER,
      whenReady: (_, then) => then(() => Buffer.alloc(0)),
      open: (socket) => socket,
      turn: () => new Promise((resolve) => void waiting.push(resolve)),
      begin: (hello) => {
        if (isBusy) hellos.push(hello)
        else hello.begin()
      },
      onDrop: () => (dropped += 1),
    })
  })

  const connect = (address: string): Connection => {
    const connection = new Connection(address)
    server.emit('connection', connection)
    return connection
  }
  const letThrough = async (outcome: 'begun' | 'full' = 'begun'): Promise<void> => {
    waiting.shift()?.(outcome)
    await Promise.resolve()
  }

  test('of a connection that is one too many never begins', () => {
    connect(ONE_TOO_MANY)
    assert.deepEqual(begun, [])
  })

  test('of an address that is new, or that succeeded, begins at once', () => {
    const first = connect('192.0.2.1')
    server.emit('secureConnection', first)
    first.close()
    const second = connect('192.0.2.1')
    assert.deepEqual(begun, [first, second])
  })

  test('of an address whose last one failed waits for its turn, and that of another does not', async () => {
    connect('192.0.2.1').close()
    const stranger = connect('192.0.2.1')
    const agent = connect('192.0.2.2')
    assert.deepEqual(begun.slice(1), [agent])
    await letThrough()
    assert.deepEqual(begun.slice(1), [agent, stranger])
  })

  test('that succeeds ends the waiting of its address', async () => {
    connect('192.0.2.1').close()
    const waited = connect('192.0.2.1')
    await letThrough()
    server.emit('secureConnection', waited)
    const next = connect('192.0.2.1')
    assert.equal(begun.at(-1), next)
  })

  test('[LIM-50] of a stranger waits for its turn, also after one that succeeded', async () => {
    for (let round = 0; round < 2; round += 1) {
      const stranger = connect(STRANGER)
      assert.equal(begun.includes(stranger), false)
      await letThrough()
      assert.equal(begun.at(-1), stranger)
      server.emit('secureConnection', stranger)
    }
  })

  test('of an address that has too many waiting never begins, and is closed', async () => {
    connect('192.0.2.1').close()
    const oneTooMany = connect('192.0.2.1')
    await letThrough('full')
    assert.deepEqual([oneTooMany.destroyed, begun.includes(oneTooMany)], [true, false])
  })

  for (const [name, leave] of Object.entries({
    'that the hub drops, since it is too busy,': (hello: WaitingHello) => hello.drop(),
    'whose client leaves a hub that is too busy': () => undefined,
  })) {
    test(`[LIM-43] ${name} has not failed`, () => {
      isBusy = true
      const connection = connect('192.0.2.1')
      const [hello] = hellos
      assert.ok(hello)
      leave(hello)
      connection.close()
      assert.deepEqual([hello.isGone(), begun], [true, []])
      isBusy = false
      const next = connect('192.0.2.1')
      assert.deepEqual(begun, [next])
    })
  }

  test('of a connection that is reset while it waits never begins', async () => {
    connect('192.0.2.1').close()
    const gone = connect('192.0.2.1')
    gone.close()
    await letThrough()
    assert.equal(begun.includes(gone), false)
  })
})
