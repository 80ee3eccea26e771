import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Secret } from '../../../../platform/secret.ts'
import { NOW } from '../../../../../test/store/store-samples.ts'
import { createStateSeal } from './sealed-state.ts'

const STATE = {
  for: 'svc',
  port: 41_234,
  key: 'k'.repeat(43),
  nonce: 'n'.repeat(43),
  verifier: 'v'.repeat(43),
  expiresAt: NOW,
} as const

test('[OID-3] each state is sealed by a key and a salt of its own', () => {
  const states = createStateSeal(new Secret(randomBytes(32)), 'https://sso.example.org/ cartorio')
  const sealed = Array.from({ length: 100 }, () => Buffer.from(states.seal(STATE), 'base64url'))
  const distinct = (from: number, to: number): number =>
    new Set(sealed.map((bytes) => bytes.toString('hex', from, to))).size
  // 16 bytes of salt; what follows is the same text under another key.
  assert.deepEqual([distinct(0, 16), distinct(16, 48)], [100, 100])
  for (const bytes of sealed) assert.deepEqual(states.open(bytes.toString('base64url')), STATE)
})
