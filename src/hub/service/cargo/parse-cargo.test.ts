import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCargoSans } from './parse-cargo.ts'

test('[DEL-15] no name of a carga is one that the hub answers to by a wildcard of its own', () => {
  const hubNames = ['hub.test', '*.hub.test']
  for (const san of ['a.hub.test', '*.hub.test', 'hub.test', '*.test']) {
    assert.throws(() => parseCargoSans([san], hubNames), { code: 'san_reserved' }, san)
  }
  const others = ['a.b.hub.test', '*.a.hub.test', 'hub.test.example', '192.0.2.7']
  assert.deepEqual(parseCargoSans(others, hubNames), others)
})
