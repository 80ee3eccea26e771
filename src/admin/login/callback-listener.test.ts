// The listener against those who share a machine or a browser with the person who signs in.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { waitUntil } from '../../../test/support/processes.ts'
import {
  type CallbackListener,
  openCallbackListener,
  type TakenCallback,
} from './callback-listener.ts'
import { SIGNED_IN } from './callback-page.ts'

const STATE = 'the-state'
const GOOD = `/callback?code=a-code&state=${STATE}`

async function withListener(
  work: (listener: CallbackListener, taken: Promise<TakenCallback>) => Promise<void>,
): Promise<void> {
  const listener = await openCallbackListener(0)
  try {
    await work(listener, listener.waitFor(STATE))
  } finally {
    await listener.close()
  }
}

function open({ port }: CallbackListener): Socket {
  return connect(port, '127.0.0.1').on('error', () => undefined)
}

/** What came until the end, however that was. */
async function ask(listener: CallbackListener, request: string): Promise<string> {
  const socket = open(listener)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text
  })
  socket.write(request)
  await new Promise((resolve) => socket.once('close', resolve))
  return answer
}

function get(listener: CallbackListener, target: string, host = `127.0.0.1:${listener.port}`) {
  return ask(listener, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
}

describe('[OID-32] the listener of a sign-in', () => {
  test('takes one callback, and shows its end in a page that runs nothing', () =>
    withListener(async (listener, taken) => {
      const shown = get(listener, GOOD)
      const { callback, answer } = await taken
      assert.deepEqual(callback, { kind: 'code', code: 'a-code', iss: undefined })
      // The same again, while the hub is asked.
      assert.match(await get(listener, GOOD), /^HTTP\/1\.1 404 /)
      await answer(SIGNED_IN)
      const page = await shown
      assert.match(page, /^HTTP\/1\.1 200 OK\r\n/)
      for (const header of [
        'cache-control: no-store',
        "content-security-policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
        'content-type: text/html; charset=utf-8',
        'cross-origin-opener-policy: same-origin',
        'cross-origin-resource-policy: same-origin',
        'referrer-policy: no-referrer',
        'x-content-type-options: nosniff',
        'x-frame-options: DENY',
        'connection: close',
      ]) {
        assert.ok(page.includes(`\r\n${header}\r\n`), header)
      }
      assert.match(page, /<p>You are signed in\. Close this tab and go back to the terminal\.<\/p>/)
      assert.doesNotMatch(page, /<script|<style|<form|a-code|the-state/)
      assert.match(await get(listener, GOOD), /^HTTP\/1\.1 404 /)
    }))

  test('writes what the provider said as text', () =>
    withListener(async (listener, taken) => {
      const shown = get(listener, GOOD)
      const { answer } = await taken
      await answer({ status: 400, title: 'Not signed in', text: `<img src=x onerror="a('b')">&` })
      assert.match(
        await shown,
        /<p>&lt;img src=x onerror=&quot;a\(&#39;b&#39;\)&quot;&gt;&amp;<\/p>/,
      )
    }))

  test('goes on after strangers, who all get the same answer', () =>
    withListener(async (listener, taken) => {
      const answers = new Set<string>()
      for (const answer of [
        await get(listener, '/callback?code=theirs&state=guessed'),
        await get(listener, '/callback'),
        await get(listener, '/favicon.ico'),
        await get(listener, GOOD, `attacker.example:${listener.port}`),
        await get(listener, GOOD, 'localhost'),
        await ask(
          listener,
          `POST ${GOOD} HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\nContent-Length: 2\r\n\r\nhi`,
        ),
        await ask(
          listener,
          `GET ${GOOD} HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\nOrigin: https://attacker.example\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n\r\n`,
        ),
      ]) {
        answers.add(answer.replace(/\r\nDate: [^\r]+/i, ''))
      }
      assert.equal(answers.size, 1)
      assert.match([...answers][0] ?? '', /^HTTP\/1\.1 404 Not Found\r\n/)
      assert.doesNotMatch([...answers][0] ?? '', /access-control/i)
      void get(listener, GOOD)
      assert.equal((await taken).callback.kind, 'code')
    }))

  test('cuts off headers without end, at once when they are long and within seconds when they are slow', () =>
    withListener(async (listener, taken) => {
      const long = await ask(
        listener,
        `GET ${GOOD} HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\nX: ${'y'.repeat(64 * 1024)}`,
      )
      // A socket that is cut while more is on its way may lose the answer.
      assert.match(long, /^(HTTP\/1\.1 431 |$)/)
      const slow = open(listener)
      const ended = new Promise((resolve) => slow.once('close', resolve))
      slow.resume().write(`GET ${GOOD} HTTP/1.1\r\n`)
      const dripping = setInterval(() => slow.write('X: y\r\n'), 200)
      await Promise.race([ended, pause(9000).then(() => assert.fail('it is held open'))])
      clearInterval(dripping)
      void get(listener, GOOD)
      assert.equal((await taken).callback.kind, 'code')
    }))

  test('has room again soon after somebody took all its connections', () =>
    withListener(async (listener, taken) => {
      const held = Array.from({ length: 40 }, () => open(listener).resume())
      await Promise.all(held.slice(0, 32).map((socket) => once(socket, 'connect')))
      await waitUntil(
        'room for the callback',
        async () => {
          void get(listener, GOOD)
          return Promise.race([taken, pause(100).then(() => undefined)])
        },
        10_000,
      )
      for (const socket of held) socket.destroy()
    }))

  test('says of a port that it is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    try {
      await assert.rejects(openCallbackListener(port), {
        code: 'port_in_use',
        message: `--port: another program has port ${port} of 127.0.0.1`,
        hint: 'leave --port out: svc finds one that is free',
      })
    } finally {
      holder.close()
    }
  })

  test('has the port of loopback alone', () =>
    withListener(async ({ port }) => {
      const elsewhere = createServer().listen(port, '127.0.0.2')
      await once(elsewhere, 'listening')
      elsewhere.close()
    }))
})
