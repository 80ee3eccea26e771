import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { TlsContexts } from './tls-contexts.ts'

test('connections with the same key, certificate and trust share what OpenSSL holds of them, others do not', async () => {
  const ca = await createFakeCa()
  const [one, other] = [await ca.issueServer('a'), await ca.issueServer('b')]
  const trust = (await createFakeCa()).rootPem
  const contexts = new TlsContexts()
  const options = { key: one.keyPem, cert: one.certificatePem, ca: ca.rootPem }
  const context = contexts.open(options)
  assert.equal(contexts.open({ ...options }), context)
  for (const differing of [
    { key: other.keyPem, cert: other.certificatePem, ca: ca.rootPem },
    { ...options, ca: trust },
    { ...options, ca: [ca.rootPem, trust] },
    { ca: ca.rootPem },
  ]) {
    const differs = contexts.open(differing)
    assert.notEqual(differs, context)
    assert.notEqual(contexts.open(options), differs)
  }
})
