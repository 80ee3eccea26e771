import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextDeliveryStatus } from './next-delivery-status.ts'

const MOVES = {
  pendente: {
    entrega_instalada: 'instalada',
    entrega_entregue: 'entregue',
    entrega_falhou: 'falhou',
  },
  em_andamento: {
    entrega_instalada: 'instalada',
    entrega_entregue: 'entregue',
    entrega_falhou: 'falhou',
  },
  falhou: {
    entrega_instalada: 'instalada',
    entrega_entregue: 'entregue',
    entrega_falhou: 'falhou',
  },
  instalada: { entrega_entregue: 'entregue' },
  entregue: {},
  cancelada: {},
  substituida: {},
} as const

const EVENTS = [
  'entrega_instalada',
  'entrega_entregue',
  'entrega_falhou',
  'agent_started',
  'toString',
]

for (const [from, targets] of Object.entries(MOVES)) {
  for (const event of EVENTS) {
    const to = (targets as Readonly<Record<string, string>>)[event]
    const isMove = Object.hasOwn(targets, event)
    test(`[DEL-6] [DEL-7] [DEL-8] [DEL-11] ${event} ${isMove ? `moves ${from} to ${to}` : `leaves ${from}`}`, () => {
      const next = nextDeliveryStatus(from as keyof typeof MOVES, event)
      assert.equal(next, isMove ? to : undefined)
    })
  }
}
