import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as assertProperty, property, string } from 'fast-check'
import { fillAdminPath, matchAdminPath } from './admin-paths.ts'

const PATTERN = '/v1/push/:agente'

test('what is filled into a path is found in it again, whatever it is', () => {
  assertProperty(
    property(string({ minLength: 1, unit: 'grapheme' }), (agente) => {
      const { path, body } = fillAdminPath(PATTERN, { agente, acao: 'sync' })
      assert.deepEqual(body, { acao: 'sync' })
      assert.deepEqual(matchAdminPath(PATTERN, path), { agente })
    }),
  )
})

for (const path of ['/v1/push', '/v1/push/', '/v1/push/a/b', '/v1/pull/a', '/v1/push/%zz', '']) {
  test(`${JSON.stringify(path)} is another path`, () => {
    assert.equal(matchAdminPath(PATTERN, path), undefined)
  })
}

test('a path without fields is itself', () => {
  assert.deepEqual(matchAdminPath('/v1/admin/agentes', '/v1/admin/agentes'), {})
  assert.deepEqual(fillAdminPath('/v1/admin/agentes', { a: 1 }), {
    path: '/v1/admin/agentes',
    body: { a: 1 },
  })
})
