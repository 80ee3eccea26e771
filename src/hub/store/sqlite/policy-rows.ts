import type { Cargo } from '../../domain/cargo.ts'
import type { Policy } from '../../domain/policy.ts'

export interface PolicyRow {
  role: string
  nome: string
  token_ttl_max: number | null
  cert_ttl: number | null
  sans_permitidos: string
  sans_nomeados: 0 | 1
  cargas_automaticas: string
  reenroll: 0 | 1
}

export function toPolicy(row: PolicyRow): Policy {
  return {
    role: row.role,
    name: row.nome,
    tokenTtlSecondsMax: row.token_ttl_max,
    certTtlSeconds: row.cert_ttl,
    permittedSans: JSON.parse(row.sans_permitidos) as string[],
    areSansNamed: row.sans_nomeados === 1,
    mayOperatorsReenroll: row.reenroll === 1,
    automaticCargoes: JSON.parse(row.cargas_automaticas) as Cargo['id'][],
  }
}

export function fromPolicy(policy: Policy): PolicyRow {
  return {
    role: policy.role,
    nome: policy.name,
    token_ttl_max: policy.tokenTtlSecondsMax,
    cert_ttl: policy.certTtlSeconds,
    sans_permitidos: JSON.stringify(policy.permittedSans),
    sans_nomeados: policy.areSansNamed ? 1 : 0,
    reenroll: policy.mayOperatorsReenroll ? 1 : 0,
    cargas_automaticas: JSON.stringify(policy.automaticCargoes),
  }
}
