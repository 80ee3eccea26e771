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
    const listOf = (name: string) => passkeys.listOf({ name, person: null })
    assert.deepEqual(await listOf('ana@example.org'), [second, first])
    assert.deepEqual(await listOf('nobody'), [])
    assert.deepEqual(await passkeys.list(), [other, second, first])
  })

  test('passkeys of a person are listed by issuer and subject, whatever the person is called', async () => {
    const name = 'ana@example.org'
    const ofName = await insertPasskey(store(), name)
    const first = await insertPasskey(store(), name, { issuer: 'https://a.example', subject: '7' })
    const second = await insertPasskey(store(), 'ana.s@example.org', {
      issuer: 'https://a.example/',
      subject: '7',
    })
    const other = await insertPasskey(store(), name, { issuer: 'https://a.example', subject: '8' })
    const { passkeys } = store().reader
    const listOf = (subject: string, issuer = 'https://a.example') =>
      passkeys.listOf({ name, person: { issuer, subject } })
    assert.deepEqual(await listOf('7'), [second, first])
    assert.deepEqual(await listOf('8'), [other])
    assert.deepEqual(await listOf('7', 'https://b.example'), [])
    assert.deepEqual(await passkeys.listOf({ name, person: null }), [ofName])
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
    assert.deepEqual(await store().reader.passkeys.list(), [passkey])
  })
}
