// What is wrong with one host, the worst first: the verdict of its page, and the acts that led there. docs/protocol.md says what each
// state means; here they are put in the order in which somebody at night has to know them.

import type { AdminReplies } from '../../api/operations.ts'
import { svc } from '../../commands/svc.ts'

/** Asked for with its details. */
export type Host = Required<AdminReplies['showAgent']>
type Delivery = Host['entregas'][number]
type Entry = AdminReplies['listEntries']['eventos'][number]

export type HostVerdict =
  | { readonly kind: 'revoked'; readonly at: string }
  | { readonly kind: 'expired'; readonly at: string }
  /** Two hosts have one identity. */
  | { readonly kind: 'duplicated'; readonly since: string; readonly addresses: readonly string[] }
  /** The host said that it could not install it, or took its target back. */
  | { readonly kind: 'failed'; readonly delivery: Delivery; readonly reason: string }
  /** The hub gives no certificate for it. */
  | {
      readonly kind: 'refused'
      readonly delivery: Delivery
      readonly code: string
      readonly reason: string
    }
  /** Since it enrolled, its agent has asked for nothing. */
  | { readonly kind: 'unheard'; readonly endsAt: string | null }
  /** It should have renewed, and asks for nothing. */
  | { readonly kind: 'late'; readonly since: string; readonly isConnected: boolean }
  | { readonly kind: 'well'; readonly renewalAt: string | undefined }

export function explainHost(host: Host, nowMs: number): HostVerdict {
  if (host.revoked_at !== null) return { kind: 'revoked', at: host.revoked_at }
  if (host.cert_not_after !== null && Date.parse(host.cert_not_after) <= nowMs) {
    return { kind: 'expired', at: host.cert_not_after }
  }
  if (host.duplicado !== null) {
    const { since, addresses } = host.duplicado
    return { kind: 'duplicated', since, addresses }
  }
  const failed = host.entregas.find(
    ({ status, reverted_at: revertedAt }) => status === 'falhou' || revertedAt !== null,
  )
  if (failed !== undefined) return { kind: 'failed', delivery: failed, reason: failed.erro ?? '' }
  const refused = host.entregas.find(({ waiting_reason: reason }) => reason !== null)
  if (refused !== undefined) {
    const reason = refused.waiting_reason ?? ''
    return { kind: 'refused', delivery: refused, code: codeIn(reason), reason }
  }
  if (host.last_poll_at === null && host.online_since === null) {
    return { kind: 'unheard', endsAt: host.cert_not_after }
  }
  if (host.atrasado) {
    return {
      kind: 'late',
      since: host.atrasado_since ?? '',
      isConnected: host.online_since !== null,
    }
  }
  const renewals = host.certificados.map(({ renewal_expected_at: at }) => at).sort()
  return { kind: 'well', renewalAt: renewals[0] }
}

/** `ca_failed: …` begins with its code. */
export function codeIn(reason: string): string {
  return /^[a-z0-9_]+/.exec(reason)?.[0] ?? ''
}

/** What somebody can do about it; each is one button or one command. */
export type Help =
  | { readonly kind: 'policy'; readonly role: string }
  | { readonly kind: 'cargo'; readonly id: string; readonly nome: string }
  | { readonly kind: 'retry'; readonly deliveryId: string; readonly failsAgain: boolean }
  | { readonly kind: 'command'; readonly command: string; readonly where: 'host' | 'hub' }

const NAME_CODES = new Set(['csr_cn_mismatch', 'names_refused', 'sans_forbidden'])

/** For the agent that is final: it reports the delivery as failed. docs/protocol.md POL-10. */
export function isNameForbidden(reason: string): boolean {
  return NAME_CODES.has(codeIn(reason))
}

export function listHelp(verdict: HostVerdict, host: Host): Help[] {
  const { hostname, role } = host
  switch (verdict.kind) {
    case 'revoked':
    case 'expired':
      return [
        {
          kind: 'command',
          where: 'hub',
          command: svc.enrolAgain(hostname, role),
        },
      ]
    case 'duplicated':
      return [
        {
          kind: 'command',
          where: 'hub',
          command: svc.revokeHost(hostname),
        },
      ]
    case 'failed':
      return [
        ...(isNameForbidden(verdict.reason) ? [{ kind: 'policy', role } as const] : []),
        { kind: 'cargo', id: verdict.delivery.carga_id, nome: verdict.delivery.nome },
        ...(verdict.delivery.status === 'falhou'
          ? [{ kind: 'retry', deliveryId: verdict.delivery.id, failsAgain: true } as const]
          : []),
        { kind: 'command', where: 'host', command: 'svc-agent status' },
      ]
    case 'refused':
      return [
        { kind: 'policy', role },
        ...(NAME_CODES.has(verdict.code)
          ? [{ kind: 'cargo', id: verdict.delivery.carga_id, nome: verdict.delivery.nome } as const]
          : [{ kind: 'command', where: 'hub', command: svc.doctor } as const]),
      ]
    case 'unheard':
      return [
        { kind: 'command', where: 'host', command: 'systemctl enable --now svc-agent' },
        { kind: 'command', where: 'host', command: 'svc-agent run' },
      ]
    case 'late':
      return [
        { kind: 'command', where: 'host', command: 'systemctl status svc-agent' },
        { kind: 'command', where: 'host', command: 'svc-agent status' },
      ]
    case 'well':
      return []
  }
}

/** What is wrong first, and the versions of one cargo side by side, the newest first. */
export function orderDeliveries(deliveries: readonly Delivery[]): Delivery[] {
  const isWrong = ({
    status,
    reverted_at: revertedAt,
    waiting_reason: waiting,
  }: Delivery): boolean => status === 'falhou' || revertedAt !== null || waiting !== null
  const wrong = new Set(deliveries.filter(isWrong).map(({ nome }) => nome))
  return deliveries.toSorted(
    (a, b) =>
      Number(wrong.has(b.nome)) - Number(wrong.has(a.nome)) ||
      a.nome.localeCompare(b.nome) ||
      b.versao - a.versao,
  )
}

const STEPS_MAX = 5
/** Entries that say how it came to this: acts of people, and what failed. */
const OF_CARGO = new Set([
  'carga_created',
  'carga_updated',
  'carga_selected',
  'carga_assigned',
  'entrega_falhou',
  'entrega_retried',
  'entrega_cancelled',
  'alvo_revertido',
  'hook_falhou',
])
const OF_POLICY = new Set(['politica_set', 'politica_removed'])
const OF_HOST = new Set([
  'agent_revoked',
  'certificate_late',
  'agent_silent',
  'identity_used_twice',
  'bundle_refused',
])

/** The newest of them that belong to the verdict, oldest first, each with its number. */
export function listSteps(
  entries: readonly Entry[],
  verdict: HostVerdict,
  host: Pick<Host, 'role'>,
): Entry[] {
  if (verdict.kind === 'well') return []
  const delivery = 'delivery' in verdict ? verdict.delivery : undefined
  const belongs = ({
    tipo_evento: tipo,
    agente_id: sender,
    payload,
    entrega_id: of,
  }: Entry): boolean => {
    if (delivery === undefined) return OF_HOST.has(tipo)
    if (OF_POLICY.has(tipo)) return payload['role'] === host.role || payload['role'] === '*'
    if (!OF_CARGO.has(tipo)) return false
    return sender === null
      ? payload['carga_id'] === delivery.carga_id
      : of === null || of === delivery.id
  }
  return entries
    .filter(belongs)
    .toSorted((a, b) => a.seq - b.seq)
    .slice(-STEPS_MAX)
}
