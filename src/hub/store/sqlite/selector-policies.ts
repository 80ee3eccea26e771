import { formatSelector } from '../../../protocol/selector.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { SelectorPolicy } from '../../domain/policy.ts'
import { toSelector } from './selector-columns.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts: it only adds. An earlier program does not know what is in the table: POL-27 keeps it away. */
export const SELECTOR_POLICIES = `
CREATE TABLE politicas_por_seletor (
  nome TEXT NOT NULL PRIMARY KEY,
  seletor TEXT NOT NULL,
  token_ttl_max INTEGER,
  cert_ttl INTEGER,
  sans_permitidos TEXT NOT NULL,
  sans_nomeados INTEGER NOT NULL CHECK (sans_nomeados IN (0, 1)),
  cargas_automaticas TEXT NOT NULL,
  -- Null: it says nothing of it.
  reenroll INTEGER CHECK (reenroll IN (0, 1))
) STRICT, WITHOUT ROWID;
`

interface SelectorPolicyRow {
  readonly nome: string
  readonly seletor: string
  readonly token_ttl_max: number | null
  readonly cert_ttl: number | null
  readonly sans_permitidos: string
  readonly sans_nomeados: 0 | 1
  readonly cargas_automaticas: string
  readonly reenroll: 0 | 1 | null
}

export function selectSelectorPolicies(session: SqlSession): SelectorPolicy[] {
  const sql = 'SELECT * FROM politicas_por_seletor ORDER BY nome'
  return session.all<SelectorPolicyRow>(sql).map(toSelectorPolicy)
}

export function setSelectorPolicy(session: SqlSession, policy: SelectorPolicy): void {
  session.put('politicas_por_seletor', 'nome', fromSelectorPolicy(policy))
}

export function deleteSelectorPolicy(session: SqlSession, name: string): void {
  session.changeOne('DELETE FROM politicas_por_seletor WHERE nome = ?', name)
}

function toSelectorPolicy(row: SelectorPolicyRow): SelectorPolicy {
  return {
    name: row.nome,
    selector: toSelector(row.seletor),
    tokenTtlSecondsMax: row.token_ttl_max,
    certTtlSeconds: row.cert_ttl,
    permittedSans: JSON.parse(row.sans_permitidos) as string[],
    areSansNamed: row.sans_nomeados === 1,
    automaticCargoes: JSON.parse(row.cargas_automaticas) as Cargo['id'][],
    mayOperatorsReenroll: row.reenroll === null ? null : row.reenroll === 1,
  }
}

function fromSelectorPolicy(policy: SelectorPolicy): SelectorPolicyRow {
  const { mayOperatorsReenroll } = policy
  return {
    nome: policy.name,
    seletor: formatSelector(policy.selector),
    token_ttl_max: policy.tokenTtlSecondsMax,
    cert_ttl: policy.certTtlSeconds,
    sans_permitidos: JSON.stringify(policy.permittedSans),
    sans_nomeados: policy.areSansNamed ? 1 : 0,
    cargas_automaticas: JSON.stringify(policy.automaticCargoes),
    reenroll: mayOperatorsReenroll === null ? null : mayOperatorsReenroll ? 1 : 0,
  }
}
