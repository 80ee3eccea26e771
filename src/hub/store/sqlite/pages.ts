// Lists page by page. A page starts after a row that is named by its id: rows stay for ever, so a place in a list does too.

import type { Page } from '../store.ts'
import { type AccessTokenRow, toAccessToken } from './access-tokens.ts'
import { DELIVERIES_WITH_CARGO } from './deliveries.ts'
import { type AgentRow, toAgent } from './agent-rows.ts'
import {
  type CargoRow,
  type DeliveryWithCargoRow,
  toCargo,
  toDeliveryWithCargo,
} from './cargo-rows.ts'
import { type PolicyRow, toPolicy } from './policy-rows.ts'
import { type TokenRow, toToken } from './token-rows.ts'
import type { Parameter, SqlSession } from './sql-session.ts'

interface PagedList<Row, T> {
  /** Answers the `place` of the row that the page starts after. */
  readonly placeOf: string
  readonly parametersOf: (after: string) => readonly Parameter[]
  /** The place before the first row. */
  readonly beginning: Parameter
  /** Of a place and a limit. */
  readonly rows: string
  readonly translate: (row: Row) => T
}

const byId = (after: string): Parameter[] => [after]

/** The id is the beginning of a hash; `g` comes after all that hex has. */
const byBeginningOfHash = (after: string): Parameter[] =>
  /^[0-9a-f]{16}$/.test(after) ? [after, `${after}g`] : ['', '']

export const AGENT_PAGES: PagedList<AgentRow, ReturnType<typeof toAgent>> = {
  placeOf: 'SELECT hostname AS place FROM agentes WHERE id = ?',
  parametersOf: byId,
  beginning: '',
  rows: `SELECT * FROM agentes WHERE removed_at IS NULL AND hostname > ?
    ORDER BY hostname LIMIT ?`,
  translate: toAgent,
}
export const CARGO_PAGES: PagedList<CargoRow, ReturnType<typeof toCargo>> = {
  placeOf: 'SELECT ordem AS place FROM cargas WHERE id = ?',
  parametersOf: byId,
  beginning: 0,
  rows: 'SELECT * FROM cargas WHERE removed_at IS NULL AND ordem > ? ORDER BY ordem LIMIT ?',
  translate: toCargo,
}
export const DELIVERY_PAGES: PagedList<
  DeliveryWithCargoRow,
  ReturnType<typeof toDeliveryWithCargo>
> = {
  placeOf: 'SELECT ordem AS place FROM entregas WHERE id = ?',
  parametersOf: byId,
  beginning: 0,
  rows: `${DELIVERIES_WITH_CARGO} WHERE entregas.ordem > ? ORDER BY entregas.ordem LIMIT ?`,
  translate: toDeliveryWithCargo,
}
export const TOKEN_PAGES: PagedList<TokenRow, ReturnType<typeof toToken>> = {
  placeOf: `SELECT ordem AS place FROM enrollment_tokens
    WHERE token_hash >= ? AND token_hash < ? LIMIT 1`,
  parametersOf: byBeginningOfHash,
  beginning: Number.MAX_SAFE_INTEGER,
  rows: 'SELECT * FROM enrollment_tokens WHERE ordem < ? ORDER BY ordem DESC LIMIT ?',
  translate: toToken,
}
/** Those of people do go, long after their end: the place goes with them. */
export const ACCESS_TOKEN_PAGES: PagedList<AccessTokenRow, ReturnType<typeof toAccessToken>> = {
  placeOf: `SELECT ordem AS place FROM admin_tokens
    WHERE token_hash >= ? AND token_hash < ? LIMIT 1`,
  parametersOf: byBeginningOfHash,
  beginning: Number.MAX_SAFE_INTEGER,
  rows: 'SELECT * FROM admin_tokens WHERE ordem < ? ORDER BY ordem DESC LIMIT ?',
  translate: toAccessToken,
}
/** Rows of this one do go, but are ordered by what names them: each role is a place. */
export const POLICY_PAGES: PagedList<PolicyRow, ReturnType<typeof toPolicy>> = {
  placeOf: 'SELECT ? AS place',
  parametersOf: byId,
  beginning: '',
  rows: 'SELECT * FROM politicas WHERE role > ? ORDER BY role LIMIT ?',
  translate: toPolicy,
}

/** Undefined when there is no row of the id that the page is to start after. */
export function selectPage<Row, T>(
  session: SqlSession,
  list: PagedList<Row, T>,
  { after, limit }: Page,
): T[] | undefined {
  const place =
    after === undefined
      ? list.beginning
      : session.get<{ place: Parameter }>(list.placeOf, ...list.parametersOf(after))?.place
  if (place === undefined) return undefined
  return session.all<Row>(list.rows, place, limit).map(list.translate)
}
