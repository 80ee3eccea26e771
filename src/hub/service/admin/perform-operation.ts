// The one way through for admin operations. What changes something is one commit: whether it was done before, the use case,
// the acts that it records, the reply that is kept. Then the hub spreads the news, and answers.

import { ArchiveError } from '../../../archive/archive-error.ts'
import { invariant } from '../../../platform/errors.ts'
import { ADMIN_OPERATIONS } from '../../../protocol/admin/operations.ts'
import type { News, StoreReader, StoreWriter } from '../../store/store.ts'
import {
  type AdminAct,
  type AdminAsker,
  AdminRefusal,
  type AdminTurn,
  type Course,
  type Done,
  entriesOfActs,
} from '../admin-act.ts'
import { appendEntries } from '../append-entries.ts'
import { restoreReply } from '../cargo/created-deliveries.ts'
import { createFleetChanges } from '../cargo/fleet-changes.ts'
import type { AdminCaller, AdminContext, AdminHub, PerformOperation } from './admin-context.ts'
import { AnsweredBefore, createKeptReply, type KeptReply } from './kept-reply.ts'
import { boundOf } from './find-access-token.ts'
import { rehearse } from './rehearsal.ts'
import { createSharedAnswers } from './summary/shared-answers.ts'
import { USE_CASES } from './use-cases.ts'

/** The request was checked against the very schema that the types of its use case come from. */
type AnyRead = (reader: StoreReader, request: object, context: object) => Promise<object>
type AnyWrite = (writer: StoreWriter, request: object, context: object) => Promise<Done<object>>
type AnyCourse = Course<never>

export function createPerformOperation(hub: AdminHub): PerformOperation {
  const { store, notifier } = hub
  const changes = hub.changes ?? createFleetChanges(store, notifier)
  const shared = createSharedAnswers(hub.clock)
  const perform: PerformOperation = async (name, asked, caller) => {
    const { dry_run: isRehearsal, ...request } = asked as { readonly dry_run?: boolean }
    const { actor, role, session, token, confirmedBy, idempotency } = caller
    const only = boundOf(caller.only ?? null)
    const asker = { actor, role, only, session, token, confirmedBy }
    const context = { ...hub, changes, shared, ...asker }
    const { does, isForSomeHosts } = ADMIN_OPERATIONS[name]
    // The port refuses it before: by itself no use case knows that it is asked for some hosts alone.
    invariant(only === undefined || isForSomeHosts === true, 'a bounded token asks for its hosts')
    const useCase = USE_CASES[name] as AnyRead | AnyWrite | AnyCourse
    if (does === 'reads') return (useCase as AnyRead)(store.reader, request, context)
    const run = (turn: AdminTurn, within: AdminContext & AdminAsker): Promise<object> =>
      typeof useCase === 'function'
        ? turn.commit((writer) => (useCase as AnyWrite)(writer, request, within))
        : useCase.run(turn, request as never, within)
    if (isRehearsal === true) {
      return rehearse(context, caller, (turn, within) => run(turn, { ...within, ...asker }))
    }
    const kept =
      does === 'creates' && idempotency !== undefined
        ? createKeptReply(idempotency, name, request)
        : undefined
    try {
      return await run(createTurn(context, caller, kept), context)
    } catch (error) {
      if (error instanceof AnsweredBefore) return restoreReply(store.reader, error.reply)
      throw error
    }
  }
  return async (name, asked, caller) => {
    try {
      return await perform(name, asked, caller)
    } catch (error) {
      throw error instanceof ArchiveError ? refuseUnread(error) : error
    }
  }
}

/** What lies in a segment that is not there is no failure of the hub. */
function refuseUnread({ code, message, range }: ArchiveError): AdminRefusal {
  const { file, first, last } = range ?? {}
  const details = file === undefined ? undefined : { file, first: `${first}`, last: `${last}` }
  return new AdminRefusal(code, message, details)
}

function createTurn(
  hub: AdminContext,
  { actor, confirmedBy }: AdminCaller,
  kept?: KeptReply,
): AdminTurn {
  const { store, clock } = hub
  const conclude = async (
    writer: StoreWriter,
    acts: readonly AdminAct[],
    reply?: object,
  ): Promise<void> => {
    const now = clock.now()
    await appendEntries(writer, entriesOfActs(acts, now, actor, confirmedBy))
    if (kept === undefined) return
    invariant(typeof reply === 'object', 'a create answers in its commit')
    await kept.keep(writer, now, reply)
  }
  const turn: AdminTurn = {
    commit: async (write) => {
      const { reply, news } = await store.write(async (writer) => {
        await kept?.refuseRepetition(writer, clock.now())
        const done = await write(writer)
        await conclude(writer, done.acts, done.reply as object)
        if (done.news !== undefined) await writer.tellOthers(done.news)
        return done
      })
      await turn.spread(news ?? {})
      return typeof reply === 'function' ? (reply as () => Promise<never>)() : reply
    },
    conclude: async (writer, acts, reply) => {
      await kept?.refuseRepetition(writer, clock.now())
      await conclude(writer, acts, reply)
    },
    refuseRepetition: async () => kept?.refuseRepetition(store.reader, clock.now()),
    spread: (news) => spread(hub, news),
  }
  return turn
}

async function spread(hub: AdminHub, news: News): Promise<void> {
  const { notifier, cutOff, webhooks, rollouts } = hub
  const { agents, revoked, areWebhooksChanged, areRolloutsChanged, isForAll } = news
  if (isForAll === true) notifier?.announceAll()
  if (agents !== undefined) notifier?.announce(agents)
  if (revoked !== undefined) cutOff?.(revoked)
  if (areRolloutsChanged === true) rollouts?.wake()
  if (areWebhooksChanged === true) await webhooks?.changed()
}
