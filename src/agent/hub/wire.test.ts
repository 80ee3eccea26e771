import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  decodeCheckpointMessage,
  decodeEnrollReply,
  decodeEventReply,
  decodeIssueReply,
  decodeManifestReply,
} from './wire.ts'

const ID = '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11'
const certificates = { cert_pem: 'leaf', ca_pem: 'root' }
const entry = {
  id: ID,
  carga_id: '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22',
  tipo: 'csr_cert',
  nome: 'site',
  versao: 1,
  status: 'pendente',
}
const later = { added_later: { deep: [1] }, renewed_at: null }

test('[CHN-38] the data of a checkpoint is a note in base64, or nothing', () => {
  assert.equal(decodeCheckpointMessage('{"checkpoint":"bm90ZQ==","added":1}'), 'note')
  for (const data of ['', '{}', 'x', '{"checkpoint":1}', 'null']) {
    assert.equal(decodeCheckpointMessage(data), undefined)
  }
})

describe('replies of a hub that is newer than the agent', () => {
  const replies = {
    enroll: [decodeEnrollReply, { agent_id: ID, ...certificates }],
    issue: [decodeIssueReply, certificates],
    manifest: [decodeManifestReply, { entregas: [entry] }],
    events: [decodeEventReply, { evento_id: ID, hash_atual: 'a'.repeat(64) }],
  } as const
  for (const [name, [decode, reply]] of Object.entries(replies)) {
    test(`[VER-3] fields that were added to the reply of ${name} are ignored`, () => {
      const known = decode(reply)
      assert.notEqual(known, undefined)
      assert.deepEqual(decode({ ...later, ...reply, ...later }), known)
    })
  }

  test('[VER-3] fields that were added to an entrega are ignored', () => {
    const known = decodeManifestReply({ entregas: [entry] })
    assert.equal(known?.entries.length, 1)
    assert.deepEqual(decodeManifestReply({ entregas: [{ ...entry, ...later }] }), known)
  })
})
