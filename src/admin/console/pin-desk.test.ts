// Whom the page may seal for, when the hub says what it likes.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AdminOperations, operationsBy } from '../../protocol/admin/operations.ts'
import type { AdminRecipients } from '../../protocol/admin/views.ts'
import { fingerprintOf, generateAgeIdentity, recipientOf } from '../../sealing/age-identity.ts'
import { addPins, NO_PINS, type RecipientPins } from '../../sealing/recipients/recipient-pins.ts'
import { createPinDesk, type PinDesk } from './pin-desk.ts'

const [first, second, escrow] = await Promise.all(
  [1, 2, 3].map(async () => recipientOf(await generateAgeIdentity())),
)
assert.ok(first !== undefined && second !== undefined && escrow !== undefined)
const agentOf = (index: number, recipient: string | null): AdminRecipients['agentes'][number] => ({
  id: `id-${index}`,
  hostname: `web-${index}.example.org`,
  role: 'web',
  recipient,
})
const ASKED = { agentes: ['web-1.example.org'], roles: [], vouched: [] }
const KEPT = { carga_id: 'cargo-1', versao: 1, sha256: 'a'.repeat(64) }

function deskOf(says: Partial<AdminRecipients>): { desk: PinDesk; kept: () => RecipientPins } {
  const answer = { agentes: [agentOf(1, first ?? '')], escrow: [], content_bytes_max: 9, ...says }
  const operations: AdminOperations = operationsBy(() => Promise.resolve(answer))
  let known = NO_PINS
  const openPins = () =>
    Promise.resolve({
      known,
      path: '/x',
      add: (more: RecipientPins) => {
        known = addPins(known, more)
        return Promise.resolve()
      },
      close: () => undefined,
    })
  return { desk: createPinDesk(operations, openPins), kept: () => known }
}

describe('the recipients of the page', () => {
  test('[LOC-9] a new one is a stranger until its fingerprint comes along, and known once the hub has the file', async () => {
    const { desk, kept } = deskOf({})
    const fingerprint = fingerprintOf(first)
    const strange = await desk.judge(ASKED)
    assert.deepEqual(strange.strangers, [
      { hostname: 'web-1.example.org', fingerprint, earlier: null },
    ])
    assert.deepEqual([strange.agentes, strange.ticket], [[], null], 'nothing to seal with')
    const judged = await desk.judge({ ...ASKED, vouched: [fingerprint] })
    assert.equal(judged.agentes[0]?.recipient, first)
    assert.equal(kept(), NO_PINS, 'nothing is known before the hub has the file')
    await desk.keep({ ...KEPT, ticket: judged.ticket ?? '' })
    assert.deepEqual(kept().cargoes.get('cargo-1'), { versao: 1, sha256: KEPT.sha256 })
    assert.notEqual((await desk.judge(ASKED)).ticket, null)
    await assert.rejects(desk.keep({ ...KEPT, ticket: judged.ticket ?? '' }), {
      code: 'ticket_unknown',
    })
  })

  test('[LOC-9] one that has changed is a stranger again', async () => {
    const { desk } = deskOf({})
    const judged = await desk.judge({ ...ASKED, vouched: [fingerprintOf(first)] })
    await desk.keep({ ...KEPT, ticket: judged.ticket ?? '' })
    const says: AdminRecipients['agentes'] = [agentOf(1, second)]
    const changed = deskOf({ agentes: says })
    const { strangers } = await changed.desk.judge(ASKED)
    assert.equal(strangers[0]?.fingerprint, fingerprintOf(second))
  })

  test('[LOC-8] a hub adds nobody, leaves nobody out, and gives a new file no escrow', async () => {
    const more = deskOf({ agentes: [agentOf(1, first), agentOf(2, second)] })
    await assert.rejects(more.desk.judge(ASKED), { code: 'recipient_unasked' })
    const asked = { ...ASKED, agentes: ['web-1.example.org', 'web-2.example.org'] }
    await assert.rejects(deskOf({}).desk.judge(asked), { code: 'recipient_missing' })
    const { desk } = deskOf({ escrow: [escrow] })
    const judged = await desk.judge({ ...ASKED, vouched: [fingerprintOf(first)] })
    assert.deepEqual(judged.escrow, [])
    const silent = deskOf({ agentes: [agentOf(1, null)] })
    await assert.rejects(silent.desk.judge(ASKED), { code: 'recipient_absent' })
  })

  test('[LOC-9] a file of one load is not remembered as that of another', async () => {
    const { desk } = deskOf({})
    const next = await desk.judge({ ...ASKED, carga: 'cargo-1', vouched: [fingerprintOf(first)] })
    const ticket = next.ticket ?? ''
    await assert.rejects(desk.keep({ ...KEPT, carga_id: 'cargo-2', ticket }), {
      code: 'ticket_unknown',
    })
    await desk.keep({ ...KEPT, ticket })
    const { ticket: again } = await desk.judge(ASKED)
    await assert.rejects(desk.keep({ ...KEPT, ticket: again ?? '' }), { code: 'carga_known' })
  })
})
