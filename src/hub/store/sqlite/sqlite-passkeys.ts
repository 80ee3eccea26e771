import { type Person, spellingsOf } from '../../domain/access-token.ts'
import type { Passkey, PasskeyOwner, SignedChallenge } from '../../domain/passkey.ts'
import type { PasskeyReader, PasskeyWriter } from '../passkey-store.ts'
import { fromPasskey, type PasskeyRow, toPasskey } from './passkey-rows.ts'
import type { SqlSession } from './sql-session.ts'

/** `session` answers the connection to ask, or throws when it may not be used now. */
export class SqlitePasskeyReader implements PasskeyReader {
  protected readonly session: () => SqlSession

  constructor(session: () => SqlSession) {
    this.session = session
  }

  async find(credentialId: string): Promise<Passkey | undefined> {
    const sql = 'SELECT * FROM passkeys WHERE credencial_id = ?'
    const row = this.session().get<PasskeyRow>(sql, credentialId)
    return row && toPasskey(row)
  }

  async listOf({ name, person }: PasskeyOwner): Promise<Passkey[]> {
    const rows = person === null ? this.#selectOfName(name) : this.#selectOfPerson(person)
    return rows.map(toPasskey)
  }

  async list(): Promise<Passkey[]> {
    const sql = 'SELECT * FROM passkeys ORDER BY ordem DESC'
    return this.session().all<PasskeyRow>(sql).map(toPasskey)
  }

  #selectOfName(name: string): PasskeyRow[] {
    const sql = `SELECT * FROM passkeys INDEXED BY passkeys_por_nome
      WHERE emissor IS NULL AND nome = ? ORDER BY ordem DESC`
    return this.session().all<PasskeyRow>(sql, name)
  }

  #selectOfPerson({ issuer, subject }: Person): PasskeyRow[] {
    const sql = `SELECT * FROM passkeys INDEXED BY passkeys_por_pessoa
      WHERE emissor IN (SELECT value FROM json_each(?)) AND sujeito = ? ORDER BY ordem DESC`
    return this.session().all<PasskeyRow>(sql, JSON.stringify(spellingsOf(issuer)), subject)
  }
}

/** Its reads see what it wrote. What agents see depends on none of it. */
export class SqlitePasskeyWriter extends SqlitePasskeyReader implements PasskeyWriter {
  async insert(passkey: Passkey): Promise<void> {
    this.#change((sql) => sql.insert('passkeys', fromPasskey(passkey)))
  }

  async setUsed(
    credentialId: string,
    { counter, challengedAt }: SignedChallenge,
    at: Date,
  ): Promise<void> {
    const set = 'contador = ?, challenged_at = ?, last_used_at = ?'
    const sql = `UPDATE passkeys SET ${set} WHERE credencial_id = ?`
    const values = [counter, challengedAt.getTime(), at.getTime()] as const
    this.#change((session) => session.changeOne(sql, ...values, credentialId))
  }

  async remove(credentialId: string): Promise<void> {
    const sql = 'DELETE FROM passkeys WHERE credencial_id = ?'
    this.#change((session) => session.changeOne(sql, credentialId))
  }

  #change(work: (session: SqlSession) => unknown): void {
    const session = this.session()
    session.about('no agent', () => work(session))
  }
}
