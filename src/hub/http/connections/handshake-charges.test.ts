import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { chargeHandshake, forgiveHandshake } from './handshake-charges.ts'
import type { StrangerTurns } from './stranger-turns.ts'

function createBook(): { readonly turns: StrangerTurns; readonly owed: Map<string, number> } {
  const owed = new Map<string, number>()
  const add = (address: string, costMs: number): void =>
    void owed.set(address, (owed.get(address) ?? 0) + costMs)
  const turns: StrangerTurns = {
    take: () => Promise.resolve('begun'),
    charge: add,
    forgive: (address, account) => add(address, -account.costMs),
  }
  return { turns, owed }
}

const connectionFrom = (remoteAddress: string): Socket => ({ remoteAddress }) as Socket

describe('[LIM-50] the handshake of a caller that stays a stranger', () => {
  test('is owed by its address', () => {
    const { turns, owed } = createBook()
    chargeHandshake(turns, connectionFrom('192.0.2.1'), 1.5)
    chargeHandshake(turns, connectionFrom('192.0.2.1'), 1.5)
    assert.deepEqual([...owed], [['192.0.2.1', 3]])
  })

  test('is given back once, and only of the connection that enrolled', () => {
    const { turns, owed } = createBook()
    const [one, other] = [connectionFrom('192.0.2.1'), connectionFrom('192.0.2.1')]
    chargeHandshake(turns, one, 1.5)
    chargeHandshake(turns, other, 1.5)
    for (let requests = 0; requests < 3; requests += 1) forgiveHandshake(turns, one)
    assert.deepEqual([...owed], [['192.0.2.1', 1.5]])
  })

  test('of a port where nothing was charged is not given back', () => {
    const { turns, owed } = createBook()
    forgiveHandshake(turns, connectionFrom('192.0.2.1'))
    assert.deepEqual([...owed], [])
  })
})
