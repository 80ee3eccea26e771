import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toWireValue } from './spoken-words.ts'

for (const [word, value] of [
  ['sealed', 'selado'],
  ['pending', 'pendente'],
  ['in_progress', 'em_andamento'],
  ['installed', 'instalada'],
  ['delivered', 'entregue'],
  ['failed', 'falhou'],
  ['cancelled', 'cancelada'],
  ['replaced', 'substituida'],
  ['reverted', 'revertida'],
  ['csr_cert', 'csr_cert'],
  ['falhou', 'falhou'],
  ['constructor', 'constructor'],
] as const) {
  test(`[WRD-10] ${word} is ${value} on the wire`, () => {
    assert.equal(toWireValue(word), value)
  })
}
