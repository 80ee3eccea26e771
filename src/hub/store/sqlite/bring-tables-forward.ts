// The tables of several databases go forward together: the hub that knows more than they have takes a turn at the journal, and what it does to
// its own tables is a record that all others run. Whatever stops it leaves the record there, or nothing. docs/protocol.md JRN-14, JRN-15.

import { type JournalFollower, RecordRefused } from './journal-follower.ts'
import type { SqlSession } from './sql-session.ts'
import {
  nextTablesStep,
  runTablesStep,
  selectTablesVersion,
  type TablesStep,
} from './tables-version.ts'

/** Whether the others can go on. Throws why they cannot. */
export type RequireReadable = (step: TablesStep) => Promise<void>

/** Connections of the journal that it may lose. */
const REFUSALS_MAX = 3

/** While nobody else writes here. */
export async function bringTablesForward(
  session: SqlSession,
  follower: JournalFollower,
  requireReadable: RequireReadable,
): Promise<void> {
  for (let refusals = 0; nextStep(session, follower) !== undefined; refusals += 1) {
    try {
      await appendStep(session, follower, requireReadable)
    } catch (error) {
      if (!(error instanceof RecordRefused) || refusals >= REFUSALS_MAX) throw error
    }
  }
}

async function appendStep(
  session: SqlSession,
  follower: JournalFollower,
  requireReadable: RequireReadable,
): Promise<void> {
  const turn = await follower.takeTurn('long')
  let isAppended = false
  try {
    // Another hub may have had its turn before.
    const step = nextStep(session, follower)
    if (step === undefined) return
    await requireReadable(step)
    session.run('BEGIN IMMEDIATE')
    const rowsChanged = runTablesStep(session, step)
    const tables = { ...step, rowsChanged }
    await turn.append({ statements: [], agents: 'all agents', news: [], tables })
    isAppended = true
    session.run('COMMIT')
    follower.noteTables(step)
  } catch (error) {
    if (session.inTransaction) session.run('ROLLBACK')
    throw error
  } finally {
    if (!isAppended) await turn.release()
  }
}

function nextStep(session: SqlSession, { migrations }: JournalFollower): TablesStep | undefined {
  return nextTablesStep(selectTablesVersion(session), migrations)
}
