import { endExpiredAccessTokens, selectFirstAccessTokenEnd } from './access-tokens.ts'
import { endExpiredJoinRules, selectFirstJoinRuleEnd } from './join-rules.ts'
import type { SqlSession } from './sql-session.ts'
import type { TokenEnds } from './token-ends.ts'

const OPEN_TOKEN = 'consumed_at IS NULL AND ended_at IS NULL'

/** Of enrolment, of the admin port and of join rules; where none is due, no table is asked. */
export function endExpiredTokens(session: SqlSession, tokenEnds: TokenEnds, now: Date): void {
  if (tokenEnds.isNoneDue(now)) return
  const sql = `UPDATE enrollment_tokens INDEXED BY tokens_por_fim SET ended_at = ?
     WHERE ${OPEN_TOKEN} AND expires_at <= ?`
  session.about('no agent', () => {
    session.run(sql, now.getTime(), now.getTime())
    endExpiredAccessTokens(session, now)
    endExpiredJoinRules(session, now)
  })
  const first = `SELECT expires_at FROM enrollment_tokens INDEXED BY tokens_por_fim
     WHERE ${OPEN_TOKEN} AND expires_at > ? ORDER BY expires_at LIMIT 1`
  const row = session.get<{ expires_at: number }>(first, now.getTime())
  tokenEnds.noteFirst(row?.expires_at ?? null)
  for (const end of [
    selectFirstAccessTokenEnd(session, now),
    selectFirstJoinRuleEnd(session, now),
  ]) {
    if (end !== undefined) tokenEnds.noteToken(end)
  }
}
