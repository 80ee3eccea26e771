import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryStatus } from '../../protocol/words.ts'
import { nextDeliveryError } from './next-delivery-error.ts'

const REVERTED = { nome: 'site', serial: '0a', step: 'probe', reason: 'old serial served' }
const SHOWN = 'alvo_revertido probe: old serial served'

const CASES: [
  status: DeliveryStatus,
  error: string | null,
  event: string,
  payload: object,
  next: string | null,
][] = [
  ['pendente', null, 'entrega_falhou', { erro: 'why' }, 'why'],
  ['falhou', 'why', 'entrega_falhou', { erro: 'still' }, 'still'],
  ['falhou', 'why', 'entrega_instalada', {}, null],
  ['em_andamento', null, 'entrega_falhou', { erro: 7 }, ''],
  ['instalada', null, 'alvo_revertido', REVERTED, SHOWN],
  ['entregue', null, 'alvo_revertido', REVERTED, SHOWN],
  // Root's applier may be quicker than the agent's own event.
  ['em_andamento', null, 'alvo_revertido', REVERTED, SHOWN],
  ['em_andamento', SHOWN, 'entrega_instalada', {}, SHOWN],
  ['instalada', SHOWN, 'entrega_entregue', {}, SHOWN],
  ['instalada', SHOWN, 'cert_renewed', {}, SHOWN],
  ['instalada', SHOWN, 'entrega_falhou', { erro: 'why' }, SHOWN],
  ['instalada', SHOWN, 'alvo_aplicado', {}, null],
  // A failed delivery is known for that.
  ['falhou', 'why', 'alvo_revertido', REVERTED, 'why'],
  ['falhou', 'why', 'alvo_aplicado', {}, 'why'],
  ['instalada', null, 'alvo_revertido', { step: 1 }, 'alvo_revertido : '],
]

for (const [status, error, event, payload, next] of CASES) {
  test(`[TGT-23] [DEL-8] ${event} for a delivery that is ${status} with ${error ?? 'no error'}: ${next ?? 'no error'}`, () => {
    assert.equal(nextDeliveryError({ status, error }, event, payload), next)
  })
}

test('[TGT-23] an error of any length is cut to 1024 characters', () => {
  const payload = { ...REVERTED, reason: 'x'.repeat(5000) }
  const delivery = { status: 'instalada', error: null } as const
  assert.equal(nextDeliveryError(delivery, 'alvo_revertido', payload)?.length, 1024)
})
