// What passkeys need of every Store: a part of the suite.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/hub/store/store.ts'
import { insertPasskey } from '../support/passkey-samples.ts'
import { LATER } from './store-samples.ts'

export function testPasskeys(store: () => Store): void {
  test('a passkey is found by its credential and listed by its name, newest first, field for field', async () => {
    const first = await insertPasskey(store(), 'ana@example.org')
    const second = await insertPasskey(store(), 'ana@example.org')
    const other = await insertPasskey(store(), 'ana')
    const { passkeys } = store().reader
    assert.deepEqual(await passkeys.find(second.credentialId), second)
    assert.equal(await passkeys.find('nobody'), undefined)
    assert.deepEqual(await passkeys.listOf('ana@example.org'), [second, first])
    assert.deepEqual(await passkeys.listOf('nobody'), [])
    assert.deepEqual(await passkeys.list(), [other, second, first])
  })

  test('a use of a passkey stays, and one that is removed is gone', async () => {
    const used = await insertPasskey(store(), 'ana')
    const gone = await insertPasskey(store(), 'ana')
    const signed = { challengedAt: LATER, counter: 8 }
    await store().write(async ({ passkeys }) => {
      await passkeys.setUsed(used.credentialId, signed, LATER)
      await passkeys.remove(gone.credentialId)
    })
    const { passkeys } = store().reader
    assert.deepEqual(await passkeys.list(), [{ ...used, ...signed, lastUsedAt: LATER }])
  })

  test('no two passkeys have one credential', async () => {
    const passkey = await insertPasskey(store(), 'ana')
    await assert.rejects(store().write((writer) => writer.passkeys.insert(passkey)))
    assert.deepEqual(await store().reader.passkeys.listOf('ana'), [passkey])
  })
}
