import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as assertProperty, property, string } from 'fast-check'
import { fillAdminPath } from './paths.ts'

test('what is filled into a path is one segment of it, whatever it is', () => {
  assertProperty(
    property(string({ minLength: 1, unit: 'grapheme' }), (agente) => {
      const { path, body } = fillAdminPath('/v1/push/:agente', { agente, acao: 'sync' })
      assert.deepEqual(body, { acao: 'sync' })
      assert.deepEqual(path.split('/').map(decodeURIComponent), ['', 'v1', 'push', agente])
    }),
  )
})

test('a path without fields is itself', () => {
  assert.deepEqual(fillAdminPath('/v1/admin/agentes', { a: 1 }), {
    path: '/v1/admin/agentes',
    body: { a: 1 },
  })
})
