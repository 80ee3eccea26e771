// What whoever uses `svc` can do about a refusal, by its code. Other clients of the hub get no such words.

import { quoteForShell } from '../../platform/quote-for-shell.ts'
import type { AdminErrorCode, AdminErrorDetails } from '../../protocol/admin/errors.ts'
import type { AdminOperationName } from '../../protocol/admin/operations.ts'

interface Refused {
  readonly operation: AdminOperationName
  readonly request: object
  readonly details: AdminErrorDetails
}

type Hint = string | ((refused: Refused) => string | undefined)

const CHANGED = 'somebody else changed it; look at it again before you do'

const HINTS: Readonly<Partial<Record<AdminErrorCode | 'internal_error', Hint>>> = {
  admin_token_exists: 'the log names tokens by it: choose another one, or revoke that one first',
  admin_token_not_found: 'svc admin token list shows ids and names',
  agent_not_found: 'svc agente list shows ids and hostnames',
  agent_not_revoked: ({ details }) => `svc agente revoke ${details['hostname']} comes first`,
  agent_revoked: ({ operation }) =>
    operation === 'pushToAgent'
      ? 'svc token create --reenroll lets a host come back'
      : 'svc agente list shows which are not; svc token create --reenroll lets a host come back',
  agents_unwanted: ({ request }) =>
    'tipo' in request && request.tipo === 'selado'
      ? 'destinatarios names them; agentes and roles are empty'
      : 'agentes and roles are empty',
  bundle_in_use:
    'svc bundle status shows who has adopted what; --force removes it all the same, and those agents have to be enrolled again',
  bundle_invalid:
    'SVC_CA_ROOT_CA_PATH holds the roots that are to be trusted, one PEM certificate after the other',
  bundle_number: ({ details }) => NUMBER_HINTS[details['reason'] ?? ''],
  cargo_not_automatic: ({ details }) =>
    details['tipo'] === 'selado'
      ? 'nobody seals it for agents that are yet to be enrolled; svc carga create does, once they are'
      : 'only a carga of tipo csr_cert can be given to agents that are yet to be enrolled',
  cargo_not_found: 'svc carga list shows ids',
  cargo_not_sealed: 'only a carga of tipo selado holds a sealed file',
  cert_ttl_too_long: 'what the CA allows is less: the claims of its provisioner',
  cert_ttl_too_short:
    'an agent renews when a third of its life is left, and needs time for a few attempts',
  content_missing: 'name it by --file',
  content_too_large: ({ operation }) =>
    operation === 'pushToAgent' ? undefined : 'SVC_BLOB_MAX of the hub sets the limit',
  content_unwanted: ({ details }) =>
    details['tipo'] === 'push' ? 'svc agente push makes its next version' : undefined,
  cursor_unknown: 'give the `next` of the page before',
  delivery_not_found: 'svc entrega list shows ids',
  delivery_over: ({ details }) =>
    'replaced_by' in details
      ? 'it stands in its place: name that one'
      : 'svc carga create makes a new one',
  escrow_invalid: ({ details }) =>
    'escrow' in details ? 'age-keygen -pq makes an identity, and shows its recipient' : undefined,
  hostname_enrolled: 'use --reenroll for a host that was rebuilt',
  hostname_has_token: ({ details }) => `svc token revoke ${details['token_id']} ends it`,
  hostname_invalid: 'labels of a-z, 0-9 and -, at most 64 characters in all',
  hostname_reserved: 'those of SVC_SERVER_CN and SVC_SERVER_SANS are no names of hosts',
  hub_not_running: 'start svc-server first',
  internal_error: 'the hub’s log says more',
  modo_invalid: 'octal, such as 0644 or 0640: the owner can read it, not everybody can write it',
  no_bundle: 'the first start of its hub reads them from SVC_CA_ROOT_CA_PATH',
  no_hub: 'start svc-server, which reads SVC_CA_ROOT_CA_PATH',
  no_recipient: 'name agents by --agente or by --role',
  nome_invalid: 'letters, digits, . _ - (not first), no two dots in a row, at most 128 characters',
  nome_taken: ({ operation, details }) => {
    if (!('arquivo' in details)) return 'name this one otherwise by --nome'
    const rule = 'two deliveries may not write the same file'
    return operation === 'setPolicy' ? rule : `${rule}; svc carga update makes a new version`
  },
  politica_changed: CHANGED,
  politica_not_found: ({ details: { politica } }) =>
    politica === undefined
      ? 'svc politica list shows which roles have one'
      : `that of role ${politica} holds for it: svc politica show ${quoteForShell(politica)}`,
  recipient_changed: 'run the command again: it seals anew, and shows what changed',
  recipients_incomplete: 'run the command again: it seals for those that have an entrega now',
  reenroll_forbidden: ({ details }) => `${leaveToOperators(details)} --reenroll`,
  replay_ahead: ({ details }) => `the last entry that is done is ${details['seq']}`,
  san_forbidden: ({ operation, details }) => {
    const { san } = details
    if (san !== undefined) {
      return `${leaveToOperators(details)} --san ${quoteForShell(san)}, in place of the names that are permitted now`
    }
    return operation === 'setPolicy'
      ? 'permit it by --san, or leave the carga out'
      : 'svc politica list shows what each role may have'
  },
  san_invalid: 'names are lower case, such as shop.example.org, *.example.org or 192.0.2.7',
  san_reserved: ({ operation }) =>
    operation === 'setPolicy'
      ? 'those of SVC_SERVER_CN and SVC_SERVER_SANS are in no certificate of an agent'
      : 'those of SVC_SERVER_CN and SVC_SERVER_SANS are in no carga',
  server_certificate_root: 'the CA has to sign by a root that stays first; nothing was changed',
  time_invalid: 'write it as 2026-01-31T12:00:00Z',
  tipo_invalid: ({ operation, details }) => {
    if (operation !== 'createWebhook') return 'use --tipo csr_cert or --tipo selado'
    return 'tipo' in details
      ? 'types are those of svc evento list, such as entrega_falhou'
      : undefined
  },
  token_consumed: ({ details }) => `svc agente revoke ${details['hostname']} ends what it enrolled`,
  token_not_found: 'svc token list shows ids and hostnames',
  too_many_webhooks: 'svc webhook remove takes one away',
  ttl_too_long: ({ operation }) =>
    operation === 'setPolicy'
      ? 'a token_ttl_max is for less than that'
      : 'it is needed only once, so create it when the host is about to enrol',
  unassigned_unwanted: 'it is sealed for agents that are enrolled',
  url_invalid: 'https://… of any host, or http://localhost:… of this one',
  versao_changed: CHANGED,
  webhook_not_found: 'svc webhook list shows ids',
}

const NUMBER_HINTS: Readonly<Record<string, string>> = {
  not_greater: 'a number only grows; --nova-epoca counts anew',
  too_far: 'a number is never taken back: --force if it is no slip',
  too_great: 'those above are for the sets that come after; --nova-epoca counts anew',
}

function leaveToOperators({ politica = '' }: AdminErrorDetails): string {
  return `an admin may, and may leave it to operators: svc politica set ${quoteForShell(politica)}`
}

/** Of a code that is not ours too, undefined. */
export function findHint(code: string, refused: Refused): string | undefined {
  const hint = (HINTS as Readonly<Record<string, Hint>>)[code]
  return typeof hint === 'function' ? hint(refused) : hint
}
