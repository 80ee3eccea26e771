import type { KeyChangeReport } from '../doors/admin-session.ts'
import { Rehearsed } from './dry-run.ts'

/** To be thrown in place of the answer: no agent is told of the vault's keys. */
export function rehearsedKeyChange({ type, payload }: KeyChangeReport): Rehearsed {
  return new Rehearsed({
    dry_run: true,
    acts: [{ tipo: type, payload, entrega_id: null }],
    agentes: 0,
  })
}
