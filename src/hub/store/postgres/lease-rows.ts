// The leases in PostgreSQL: who has one, and until when by the database's clock. The term of a lease is another one whenever another process
// takes it, and is a time, so that a lease whose row was removed does not get an old one again.

import type { LeaseTerm } from '../journal.ts'

export interface LeaseRow {
  readonly nome: string
  /** As text: it could be larger than a number of JavaScript. */
  readonly termo: string
}

export const SELECT_TERMS = 'SELECT nome, termo FROM posse'

/** $1: names; $2: how long each lasts, in seconds; $3: the hub; $4: its process. Those that it has already last longer. */
export const TAKE_OR_RENEW = `INSERT INTO posse (nome, hub, instancia, termo, ate)
  SELECT nome, $3::uuid, $4::uuid, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    clock_timestamp() + make_interval(secs => segundos)
  FROM unnest($1::text[], $2::float8[]) AS pedido (nome, segundos) ORDER BY nome
  ON CONFLICT (nome) DO UPDATE SET hub = excluded.hub, instancia = excluded.instancia, ate = excluded.ate,
    termo = CASE WHEN posse.instancia = excluded.instancia THEN posse.termo
      ELSE greatest(posse.termo + 1, excluded.termo) END
  WHERE posse.instancia = excluded.instancia OR posse.ate < clock_timestamp()
  RETURNING nome, termo`

/** $1: names; $2: the process that has them. */
export const RELEASE = `UPDATE posse SET ate = '-infinity' WHERE nome = ANY ($1::text[]) AND instancia = $2::uuid`

export function readTerms(rows: readonly LeaseRow[]): ReadonlyMap<string, number> {
  return new Map(rows.map(({ nome, termo }) => [nome, Number(termo)]))
}

export function readLeases(rows: readonly LeaseRow[]): readonly LeaseTerm[] {
  return rows.map(({ nome, termo }) => ({ name: nome, term: Number(termo) }))
}
