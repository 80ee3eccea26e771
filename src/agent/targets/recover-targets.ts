// After a crash: a change that was recorded as applied is cleaned up after, every other one is put back.

import { describeError } from '../../platform/errors.ts'
import type { Journal } from './journal.ts'
import { cleanUp, revertTarget } from './revert-target.ts'
import type { TransactionContext } from './transaction.ts'

const FAULT = {
  step: 'interrupted',
  reason: 'the change was interrupted, and the agent put everything back',
} as const

/** Resolves with what cannot be recovered now; nothing may be applied to those targets. */
export async function recoverTargets(
  context: TransactionContext,
): Promise<{ readonly stuck: ReadonlySet<string>; readonly problems: readonly string[] }> {
  const { journals, unreadable } = await context.journals.list()
  // Nobody knows what would have to be put back; a person has to look at it before anything is changed again.
  const stuck = new Set(unreadable.map(({ target }) => target))
  const problems = unreadable.map(({ reason }) => reason)
  for (const journal of journals) {
    try {
      if (isRecorded(context, journal)) await cleanUp(context, journal)
      else await revertTarget(context, journal, FAULT)
    } catch (error) {
      stuck.add(journal.entry.target)
      const reason = `${journal.entry.source}: the agent cannot put an interrupted change back: ${describeError(error)}`
      context.log.error(
        { source: journal.entry.source, error: describeError(error) },
        'Target not recovered',
      )
      problems.push(reason)
    }
  }
  await context.journals.removeOrphans()
  return { stuck, problems }
}

/** The phase counts too: a change may have failed at the very moment of its record, and is then being put back. */
function isRecorded({ applied }: TransactionContext, { entry, phase }: Journal): boolean {
  const last = applied.find(entry.target)?.last_change
  if (last?.request_id !== entry.request_id) return false
  return last.outcome === 'reverted' || phase === 'switching'
}
