// A range of the log as a page exports it: by the operations of the admin port alone, over HTTPS, verified by Web Crypto alone.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { verifyExport } from '../../src/audit/browser/verify-export.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { HUB_NAME, type TestHub, WITH_ADMIN_PORT } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { startTestHub } from '../support/test-hub.ts'
import { send, type Target } from '../support/wire-client.ts'

let ca: RunningCa
let hub: TestHub
let target: Target
let authorization: string
before(async () => {
  ca = await startDevCa()
  hub = await startTestHub({ caEnvironment: ca.environment, environment: WITH_ADMIN_PORT })
  const rootPem = await readFile(ca.rootPath, 'utf8')
  target = { port: hub.ports.admin ?? 0, tls: { ca: rootPem, servername: HUB_NAME } }
  const request = { name: 'page', role: 'viewer', ttl_seconds: 3600 }
  const { token } = await hub.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', request)
  authorization = `Bearer ${token}`
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
  await ca?.[Symbol.asyncDispose]()
})

async function get(path: string): Promise<Readonly<Record<string, unknown>>> {
  const { status, json, text } = await send(target, { path, headers: { authorization } })
  assert.equal(status, 200, text)
  return json
}

test('[API-30] [API-80] [CHN-32] a page exports a range with a token of a viewer, and verifies it by itself', async () => {
  for (let count = 0; count < 20; count += 1) await hub.createToken({ hostname: `host-${count}` })
  const { head } = await waitUntil('a checkpoint of all of it', async () => {
    const { entries, head: end } = await get('/v1/admin/checkpoint')
    const { seq } = end as { seq: number }
    return Number(entries) === seq
      ? { head: end as { seq: number; hash_atual: string } }
      : undefined
  })
  const proof = await get('/v1/admin/eventos/proof?after=5')
  const {
    checkpoint,
    key,
    after: from,
    until,
    left,
    right,
  } = proof as {
    checkpoint: string
    key: string
    after: number
    until: number
    left: string[]
    right: string[]
  }
  const format = 'svc-evento-export-v1'
  async function* lines(spoil = false): AsyncGenerator<Uint8Array> {
    const first = JSON.stringify({ format, after: from, until, checkpoint, key, left, right })
    yield Buffer.from(`${first}\n`)
    for (let last: number | null = from; last !== null && last < until;) {
      const limit = Math.min(7, until - last)
      const page = await get(`/v1/admin/eventos/records?after=${last}&limit=${limit}`)
      const records = page['registros'] as string[]
      const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
      yield Buffer.from(spoil ? text.replace('host-7', 'host-8') : text)
      last = page['next'] as number | null
    }
  }
  const verified = await verifyExport(lines(), { key })
  assert.ok(verified.ok)
  assert.deepEqual([verified.after, verified.until], [5, until])
  if (until === head.seq) assert.equal(verified.head, head.hash_atual)
  assert.equal((await verifyExport(lines(true), { key })).ok, false)
})
