// Deliveries as docs/protocol.md DEL has them: each status comes from the one before by moves that there are.

import type { AdminDelivery } from '../../../src/protocol/admin/views.ts'
import { demand } from './demand.ts'

/** DEL-5 to DEL-10: where each status may go, in one move or several. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  pendente: ['em_andamento', 'instalada', 'entregue', 'falhou', 'cancelada', 'substituida'],
  em_andamento: ['instalada', 'entregue', 'falhou', 'cancelada', 'substituida'],
  falhou: ['instalada', 'entregue', 'cancelada', 'substituida'],
  instalada: ['entregue', 'cancelada', 'substituida'],
  entregue: ['cancelada', 'substituida'],
  cancelada: [],
  substituida: [],
}

export class DeliveryModel {
  readonly #statuses = new Map<string, string>()
  readonly #installed = new Set<string>()
  readonly #failed = new Set<string>()

  addEvent(type: string, deliveryId: string): void {
    if (type === 'entrega_instalada') this.#installed.add(deliveryId)
    if (type === 'entrega_falhou') this.#failed.add(deliveryId)
  }

  beginAgain(): void {
    for (const known of [this.#statuses, this.#installed, this.#failed]) known.clear()
  }

  /** [DEL-11] Each status came from the last one by moves that there are, and for a reason. */
  check(deliveries: readonly AdminDelivery[]): void {
    for (const { id, status } of deliveries) {
      const before = this.#statuses.get(id)
      const isMove = before === undefined || before === status || MOVES[before]?.includes(status)
      demand(isMove, '[DEL-11] a delivery moved', `${before} to ${status}`)
      this.#statuses.set(id, status)
      demand(status !== 'instalada' || this.#installed.has(id), '[DEL-6] nobody installed', id)
      demand(status !== 'falhou' || this.#failed.has(id), '[DEL-8] nobody failed', id)
    }
    const known = new Set(deliveries.map(({ id }) => id))
    const lost = [...this.#statuses.keys()].find((id) => !known.has(id))
    demand(lost === undefined, '[RES-8] a delivery is lost:', lost)
  }
}
