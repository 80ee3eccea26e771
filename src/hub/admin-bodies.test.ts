// How much the body of an admin operation may hold, at the admin port over TLS: docs/protocol.md LIM-22, LIM-35.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openDoors, UNLIMITED } from '../../test/support/console-page.ts'
import { createSettableClock } from '../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../test/support/temporary-store.ts'
import { openAdmin } from '../../test/support/told-admin.ts'
import { send, type WireReply } from '../../test/support/wire-client.ts'
import { NOW } from '../../test/store/store-samples.ts'

const MIB = 1024 * 1024

describe('the body of an admin operation', () => {
  const stack = new AsyncDisposableStack()
  let ask: (path: string, body: string) => Promise<WireReply>
  before(async () => {
    const store = stack.use(await openTemporaryStore())
    const clock = createSettableClock(NOW)
    const { target } = stack.use(await openDoors(store, clock, { limits: UNLIMITED }))
    const made = await openAdmin(store, { clock }).admin.createAccessToken({
      name: 'grafana',
      role: 'viewer',
    })
    const headers = {
      authorization: `Bearer ${made.token}`,
      'content-type': 'application/json',
    }
    ask = (path, body) => send(target, { method: 'POST', path, headers, body })
  })
  after(() => stack.disposeAsync())

  const outcomeOf = async (path: string, body: string): Promise<unknown> => {
    const { status, json } = await ask(path, body)
    return status === 200 ? 200 : `${status} ${String(json['error'])}`
  }
  const SEARCH = '/v1/admin/search'
  /** Three strings, besides those of the field that the hub ignores. */
  const searchBeside = (field: string): string => `{"q":"web","x":${field}}`
  const strings = (count: number): string => JSON.stringify(Array(count).fill('x'))

  test('[LIM-35] has 4,096 names and strings at most', async () => {
    assert.equal(await outcomeOf(SEARCH, searchBeside(strings(4093))), 200)
    assert.equal(await outcomeOf(SEARCH, searchBeside(strings(4094))), '400 request_invalid')
    assert.equal(await outcomeOf(SEARCH, searchBeside(strings(60_000))), '400 request_invalid')
  })

  test('[LIM-35] has 64 KiB outside of strings at most', async () => {
    const numbers = (bytes: number): string => `[${'1,'.repeat(bytes / 2)}1]`
    assert.equal(await outcomeOf(SEARCH, searchBeside(numbers(65_000))), 200)
    assert.equal(await outcomeOf(SEARCH, searchBeside(numbers(65_536))), '400 request_invalid')
  })

  test('[LIM-22] [ERR-22] has 1 MiB at most, and a client that sends more is told so', async () => {
    const text = (bytes: number): string =>
      searchBeside(JSON.stringify('x'.repeat(bytes - searchBeside('""').length)))
    assert.equal(await outcomeOf(SEARCH, text(MIB)), 200)
    const { status, json } = await ask(SEARCH, text(MIB + 1))
    assert.equal(status, 413)
    assert.deepEqual(json, {
      error: 'body_too_large',
      message: 'the body is over its limit',
    })
  })

  test('[LIM-22] [LIM-35] that names ten thousand hosts is heard', async () => {
    const names = Array.from({ length: 10_000 }, (_, at) => `${at}.`.padEnd(253, 'x'))
    const recipients = JSON.stringify({ agentes: names, roles: [] })
    const { status, json } = await ask('/v1/admin/recipients/list', recipients)
    assert.deepEqual([status, json['error']], [404, 'agent_not_found'])
    assert.equal(
      await outcomeOf('/v1/admin/recipients/list', `{"agentes":${strings(16_384)}}`),
      '400 request_invalid',
    )
  })

  test('[LIM-22] [LIM-35] that declares a thousand hosts with ten labels each is heard', async () => {
    const labels = Object.fromEntries(
      Array.from({ length: 10 }, (_, at) => [`label-${at}`, 'x'.repeat(60)]),
    )
    const agentes = Array.from({ length: 1000 }, (_, at) => ({ hostname: `web-${at}`, labels }))
    const body = JSON.stringify({ manager: 'default', agentes })
    assert.equal(await outcomeOf('/v1/admin/fleet/plan', body), 200)
  })
})
