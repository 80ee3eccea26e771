import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { Session, SignInCode } from '../../domain/session.ts'
import type { PeopleRoom, SessionReader, SessionWriter } from '../session-store.ts'
import { removeTokensOfPeople } from './access-tokens.ts'
import {
  fromSession,
  fromSignInCode,
  type SessionRow,
  type SignInCodeRow,
  toSession,
  toSignInCode,
} from './session-rows.ts'
import type { SqlSession } from './sql-session.ts'

/** `session` answers the connection to ask, or throws when it may not be used now. */
export class SqliteSessionReader implements SessionReader {
  protected readonly session: () => SqlSession

  constructor(session: () => SqlSession) {
    this.session = session
  }

  async find(cookieHash: TokenHash): Promise<Session | undefined> {
    const sql = 'SELECT * FROM sessoes WHERE cookie_hash = ?'
    const row = this.session().get<SessionRow>(sql, cookieHash)
    return row && toSession(row)
  }

  async list(): Promise<Session[]> {
    const sql = 'SELECT * FROM sessoes ORDER BY ordem DESC'
    return this.session().all<SessionRow>(sql).map(toSession)
  }

  async findCode(hash: TokenHash): Promise<SignInCode | undefined> {
    const sql = 'SELECT * FROM codigos_de_entrada WHERE code_hash = ?'
    const row = this.session().get<SignInCodeRow>(sql, hash)
    return row && toSignInCode(row)
  }
}

/** Its reads see what it wrote. What agents see depends on none of it. */
export class SqliteSessionWriter extends SqliteSessionReader implements SessionWriter {
  async insert(session: Session): Promise<void> {
    this.#change((sql) => sql.insert('sessoes', fromSession(session)))
  }

  async setUsed(cookieHash: TokenHash, at: Date): Promise<void> {
    const sql = 'UPDATE sessoes SET last_used_at = ? WHERE cookie_hash = ? AND ended_at IS NULL'
    this.#change((session) => session.run(sql, at.getTime(), cookieHash))
  }

  async setEnded(cookieHash: TokenHash, at: Date): Promise<void> {
    const sql = 'UPDATE sessoes SET ended_at = ? WHERE cookie_hash = ? AND ended_at IS NULL'
    this.#change((session) => session.run(sql, at.getTime(), cookieHash))
  }

  async remove(cookieHash: TokenHash): Promise<void> {
    this.#change((sql) => sql.run('DELETE FROM sessoes WHERE cookie_hash = ?', cookieHash))
  }

  async insertCode(code: SignInCode, expiredBefore: Date): Promise<void> {
    const expired = 'DELETE FROM codigos_de_entrada WHERE expires_at < ?'
    this.#change((sql) => {
      sql.run(expired, expiredBefore.getTime())
      sql.insert('codigos_de_entrada', fromSignInCode(code))
    })
  }

  async setCodeUsed(hash: TokenHash, at: Date): Promise<void> {
    const sql = 'UPDATE codigos_de_entrada SET used_at = ? WHERE code_hash = ?'
    this.#change((session) => session.run(sql, at.getTime(), hash))
  }

  async removeTokensOfPeople(room: PeopleRoom): Promise<void> {
    this.#change((session) => removeTokensOfPeople(session, room))
  }

  async removeAll(): Promise<void> {
    this.#change((sql) => {
      sql.run('DELETE FROM sessoes')
      sql.run('DELETE FROM codigos_de_entrada')
      sql.run('DELETE FROM admin_tokens WHERE emissor IS NOT NULL')
    })
  }

  #change(work: (session: SqlSession) => unknown): void {
    const session = this.session()
    session.about('no agent', () => work(session))
  }
}
