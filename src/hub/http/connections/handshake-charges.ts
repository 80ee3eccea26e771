import type { Socket } from 'node:net'
import type { StrangerTurns, TurnAccount } from './stranger-turns.ts'

interface Charge {
  readonly address: string
  readonly account: TurnAccount
}

/** What the handshakes of open connections were charged for, where callers stay strangers after it. docs/protocol.md LIM-50. */
const charges = new WeakMap<Socket, Charge>()

export function chargeHandshake(turns: StrangerTurns, socket: Socket, costMs: number): void {
  const address = socket.remoteAddress ?? ''
  turns.charge(address, costMs)
  charges.set(socket, { address, account: { costMs } })
}

/** Once for a connection: each further request that succeeds on it gets nothing back. */
export function forgiveHandshake(turns: StrangerTurns, socket: Socket): void {
  const charge = charges.get(socket)
  charges.delete(socket)
  if (charge !== undefined) turns.forgive(charge.address, charge.account)
}
