import { formatDurationMs } from '../../platform/durations.ts'
import type { AdminAffectedCargo, AdminPolicy } from '../../protocol/admin/views.ts'
import { renderFields, renderTable } from '../terminal/table.ts'

/** Without blanks, so that a column stays one word for awk. */
export function renderSeconds(seconds: number | null): string | null {
  return seconds === null ? null : formatDurationMs(seconds * 1000).replaceAll(' ', '')
}

export function renderPolicy(policy: AdminPolicy): string {
  return renderFields({
    role: policy.role,
    nome: policy.nome,
    token_ttl_max: renderSeconds(policy.token_ttl_max),
    cert_ttl: renderSeconds(policy.cert_ttl),
    sans_permitidos: policy.sans_permitidos.join(','),
    sans_nomeados: policy.sans_nomeados ? 'yes' : 'no',
    cargas_automaticas: policy.cargas_automaticas.join(','),
    reenroll: policy.reenroll ? 'yes' : 'no',
  })
}

/** Nothing when nothing is affected. */
export function renderAffected(affected: readonly AdminAffectedCargo[]): string {
  if (affected.length === 0) return ''
  const rows = affected.map(({ nome, sans, agentes, carga_id }) => [
    nome,
    sans.join(','),
    agentes.join(','),
    carga_id,
  ])
  const table = renderTable(['NOME', 'FORBIDDEN_SANS', 'AGENTES', 'CARGA_ID'], rows)
  return `\nwarning: the politica does not permit certificates of these cargas, and the hub no longer renews them\n\n${table}`
}
