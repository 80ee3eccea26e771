// An act with `dry_run`: its use case runs as in earnest, then throws its answer, which rolls the commit back. The act
// leaves nothing behind, and the hub tells nobody. docs/protocol.md API-27.

import type { AdminRehearsal } from '../../../protocol/admin/operation.ts'
import { invariant } from '../../../platform/errors.ts'
import type { AdminAct, AdminTurn } from '../admin-act.ts'
import { createFleetChanges } from '../cargo/fleet-changes.ts'
import type { News } from '../../store/store.ts'
import type { AdminCaller, AdminContext } from './admin-context.ts'

/** Not a failure: it takes back what was done to find it. */
class Rehearsed extends Error {
  override name = 'Rehearsed'
  readonly answer: AdminRehearsal
  constructor(answer: AdminRehearsal) {
    super('the act was rehearsed')
    this.answer = answer
  }
}

/** What an act would record, and how many agents it would tell. Throws the refusals of the act. */
export async function rehearse(
  hub: AdminContext,
  { actor }: AdminCaller,
  run: (turn: AdminTurn, hub: AdminContext) => Promise<object>,
): Promise<AdminRehearsal> {
  const { store } = hub
  const answerOf = (
    acts: readonly AdminAct[],
    agents: News['agents'] = [],
    politica?: AdminRehearsal['politica'],
  ): AdminRehearsal => ({
    dry_run: true,
    acts: acts.map(({ type, payload, deliveryId }) => ({
      tipo: type,
      payload: { actor, ...payload },
      entrega_id: deliveryId ?? null,
    })),
    agentes: new Set(agents).size,
    ...(politica && { politica }),
  })
  const end: NonNullable<AdminTurn['rehearse']> = (acts, agents, politica) => {
    throw new Rehearsed(answerOf(acts, agents, politica))
  }
  const turn: AdminTurn = {
    rehearse: end,
    commit: (write) =>
      store.write(async (writer) => {
        const { acts, news } = await write(writer)
        return end(acts, news?.agents ?? [])
      }),
    conclude: refuseCommit,
    refuseRepetition: () => Promise.resolve(),
    spread: refuseCommit,
  }
  try {
    await run(turn, withoutCommits(hub))
    return answerOf([])
  } catch (error) {
    if (error instanceof Rehearsed) return error.answer
    throw error
  }
}

/** A use case that forgets that it is only rehearsed breaks, and does nothing. A rehearsal waits for no turn. */
function withoutCommits(hub: AdminContext): AdminContext {
  const { reader, version } = hub.store
  const versionOf = () => version
  const store = { reader, version, versionOf, write: refuseCommit, close: refuseCommit }
  const changes = { ...createFleetChanges(store), inTurn: <T>(work: () => Promise<T>) => work() }
  return { ...hub, store, changes }
}

async function refuseCommit(): Promise<never> {
  invariant(false, 'a rehearsal commits nothing')
}
