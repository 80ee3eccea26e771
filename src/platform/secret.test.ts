import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { Secret } from './secret.ts'

test('[LOG-2] a secret shows itself only when it is asked to', () => {
  const secret = new Secret('swordfish')
  assert.equal(secret.reveal(), 'swordfish')
  const shown = [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }, { showHidden: true, depth: 9 }),
    JSON.stringify(Object.entries(secret)),
  ]
  for (const text of shown) assert.ok(!text.includes('swordfish'), text)
})
