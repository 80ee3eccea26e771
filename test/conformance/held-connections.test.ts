// Clients that do what they can to hold a connection for longer than docs/protocol.md LIM gives them: what counts is when
// the hub has let go of it, not when it has said so.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { waitUntil } from '../support/processes.ts'
import { useCa } from '../support/use-hub.ts'

const { startHub } = useCa()

const POST = 'POST /v1/enroll HTTP/1.1\r\nHost: hub\r\n'
const WITH_BODY = `${POST}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`

describe('a client that goes on sending and never closes its side', () => {
  for (const { what, beginning, drip, answer } of [
    {
      what: 'headers without end',
      beginning: `${POST}X-Slow: `,
      drip: 'a',
      answer: /^HTTP\/1\.1 408 /,
    },
    { what: 'a body without end', beginning: WITH_BODY, drip: ' ', answer: /^HTTP\/1\.1 408 / },
    { what: 'what is no HTTP', beginning: 'what?\r\n\r\n', drip: 'a', answer: /^HTTP\/1\.1 400 / },
  ]) {
    test(`[LIM-21] is let go of after the answer to ${what}`, async () => {
      await using hub = await startHub({
        SVC_LIMIT_HEADERS_SECONDS: '1',
        SVC_LIMIT_REQUEST_SECONDS: '1',
      })
      await using client = await openStubbornly(hub.ports.enroll)
      client.socket.write(beginning)
      const [received] = (await once(client.socket, 'data')) as [Buffer]
      assert.match(received.toString(), answer)
      client.drip(drip)
      // Only when the hub's side is closed does the system refuse what is still sent to it.
      await waitUntil('the end', () => client.socket.destroyed || undefined, 10_000)
    })
  }
})

async function openStubbornly(port: number): Promise<StubbornClient> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  let dripping: NodeJS.Timeout | undefined
  return {
    socket,
    drip: (byte) => {
      dripping = setInterval(() => socket.write(byte), 100)
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(dripping)
      socket.destroy()
    },
  }
}

interface StubbornClient extends AsyncDisposable {
  readonly socket: Socket
  /** This byte again and again from now on. */
  drip(byte: string): void
}
