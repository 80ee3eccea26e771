import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { createKeptToken } from './token-create-many.ts'

const ASKED = { hostname: 'web-1', role: 'web', reenroll: false }

function createHub(): { operations: AdminOperations; open: Set<string> } {
  const open = new Set<string>()
  const operations = {
    createToken: async () => {
      open.add('id-1')
      return { id: 'id-1', token: 'svct_1', expires_at: '2026-11-27T00:00:00.000Z' }
    },
    revokeToken: async ({ token }: { token: string }) => void open.delete(token),
  } as unknown as AdminOperations
  return { operations, open }
}

test('[CLI-63] a token that its file takes stays open, and is shown nowhere else', async () => {
  const { operations, open } = createHub()
  const lines: string[] = []
  const kept = await createKeptToken(operations, ASKED, {
    add: async (host, token) => void lines.push(`${host} ${token}`),
  })
  assert.deepEqual(kept, { expires_at: '2026-11-27T00:00:00.000Z' })
  assert.deepEqual(lines, ['web-1 svct_1'])
  assert.deepEqual([...open], ['id-1'])
})

test('[CLI-63] a token that its file does not take is ended', async () => {
  const { operations, open } = createHub()
  const full = new UserError('file_unwritable', '--out: cannot write tokens: ENOSPC')
  const add = (): Promise<void> => Promise.reject(full)
  await assert.rejects(createKeptToken(operations, ASKED, { add }), full)
  assert.deepEqual([...open], [])
})
