import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { HubBusy } from '../../doors/hub-busy.ts'
import { createKeptToken } from './token-create-many.ts'

const ASKED = { hostname: 'web-1', role: 'web', reenroll: false }

const FULL = new UserError('file_unwritable', '--out: cannot write tokens: ENOSPC')
const addToFull = (): Promise<void> => Promise.reject(FULL)

function createHub(): { operations: AdminOperations; open: Set<string>; noted: string[] } {
  const open = new Set<string>()
  const noted: string[] = []
  const operations = {
    createToken: async () => {
      open.add('id-1')
      return { id: 'id-1', token: 'svct_1', expires_at: '2026-11-27T00:00:00.000Z' }
    },
    revokeToken: async ({ token }: { token: string }) => void open.delete(token),
  } as unknown as AdminOperations
  return { operations, open, noted }
}

test('[CLI-63] a token that its file takes stays open, and is shown nowhere else', async () => {
  const { operations, open } = createHub()
  const lines: string[] = []
  const kept = await createKeptToken(operations, assert.fail, ASKED, {
    add: async (host, token) => void lines.push(`${host} ${token}`),
  })
  assert.deepEqual(kept, { expires_at: '2026-11-27T00:00:00.000Z' })
  assert.deepEqual(lines, ['web-1 svct_1'])
  assert.deepEqual([...open], ['id-1'])
})

test('[CLI-63] a token that its file does not take is ended', async () => {
  const { operations, open } = createHub()
  const kept = createKeptToken(operations, assert.fail, ASKED, { add: addToFull })
  await assert.rejects(kept, FULL)
  assert.deepEqual([...open], [])
})

for (const [what, away] of [
  ['is busy', new HubBusy('rate_limited', 'too many requests')],
  ['cannot be reached', new SvcError('hub_unreachable', 'cannot reach the hub')],
] as const) {
  test(`[CLI-63] a token that a hub that ${what} does not end is named, and svc stops at the file`, async () => {
    const { operations, open, noted } = createHub()
    const hub = { ...operations, revokeToken: () => Promise.reject(away) }
    const note = (text: string): void => void noted.push(text)
    const kept = createKeptToken(hub, note, ASKED, { add: addToFull })
    await assert.rejects(kept, FULL)
    assert.deepEqual([...open], ['id-1'])
    assert.deepEqual(noted, ['the token id-1 of web-1 stays open: svc token revoke id-1'])
  })
}
