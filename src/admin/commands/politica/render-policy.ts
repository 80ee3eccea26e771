import { formatDurationMs } from '../../../platform/durations.ts'
import type { Language } from '../../../protocol/spoken-words.ts'
import type {
  AdminAffectedCargo,
  AdminPolicy,
  AdminSelectorPolicy,
} from '../../../protocol/admin/views.ts'
import { type Columns, renderFields, renderRows, yesOrNo } from '../../terminal/table.ts'

/** Without blanks, so that a column stays one word for awk. */
export function renderSeconds(seconds: number | null): string | null {
  return seconds === null ? null : formatDurationMs(seconds * 1000).replaceAll(' ', '')
}

export function renderPolicy(language: Language, policy: AdminPolicy): string {
  return renderFields(language, {
    role: policy.role,
    nome: policy.nome,
    token_ttl_max: renderSeconds(policy.token_ttl_max),
    cert_ttl: renderSeconds(policy.cert_ttl),
    sans_permitidos: policy.sans_permitidos.join(','),
    sans_nomeados: yesOrNo(policy.sans_nomeados),
    cargas_automaticas: policy.cargas_automaticas.join(','),
    reenroll: yesOrNo(policy.reenroll),
  })
}

export function renderSelectorPolicy(language: Language, policy: AdminSelectorPolicy): string {
  return renderFields(language, {
    nome: policy.nome,
    where: policy.where,
    token_ttl_max: renderSeconds(policy.token_ttl_max),
    cert_ttl: renderSeconds(policy.cert_ttl),
    sans_permitidos: policy.sans_permitidos.join(','),
    sans_nomeados: yesOrNo(policy.sans_nomeados),
    cargas_automaticas: policy.cargas_automaticas.join(','),
    reenroll: policy.reenroll === null ? null : yesOrNo(policy.reenroll),
  })
}

const AFFECTED_COLUMNS: Columns<AdminAffectedCargo> = {
  nome: ({ nome }) => nome,
  forbidden_sans: ({ sans }) => sans.join(','),
  agentes: ({ agentes }) => agentes.join(','),
  carga_id: ({ carga_id }) => carga_id,
}

/** Nothing when nothing is affected. */
export function renderAffected(
  language: Language,
  affected: readonly AdminAffectedCargo[],
): string {
  if (affected.length === 0) return ''
  const table = renderRows(language, AFFECTED_COLUMNS, affected)
  return `\nwarning: the policy does not permit certificates of these loads, and the hub no longer renews them\n\n${table}`
}
