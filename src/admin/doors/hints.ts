// What a person who uses `svc` can do about a refusal, by its code. Other clients of the hub get no such words.

import { quoteForShell } from '../../platform/quote-for-shell.ts'
import type { AdminErrorCode, AdminErrorDetails } from '../../protocol/admin/errors.ts'
import type { AdminOperationName } from '../../protocol/admin/operations.ts'

interface Refused {
  readonly operation: AdminOperationName
  readonly request: object
  readonly details: AdminErrorDetails
}

type Hint = string | ((refused: Refused) => string | undefined)

const CHANGED = 'somebody else changed it: look at it again, then change it'

const SEGMENT =
  'put the file, or another copy of it, where SVC_LOG_ARCHIVE_DIR is; svc event segments shows all of them'

const HINTS: Readonly<Partial<Record<AdminErrorCode | 'internal_error', Hint>>> = {
  admin_token_exists:
    'the log names tokens by their names: choose another name, or revoke that token first',
  admin_token_not_found: 'svc admin token list shows ids and names',
  session_not_found: 'svc admin session list shows ids',
  tpm_keys_invalid:
    'a line for each TPM, as svc-agent tpm prints it: its SHA-256, and a hostname of the pattern',
  ca_invalid:
    '--ca and --tpm-ca take CA certificates, PEM: roots, or intermediates that sign the certificates of hosts',
  known_hosts_invalid:
    'ssh-keyscan prints such lines; names with * count after @cert-authority alone',
  join_rule_exists: 'choose another name, or end that rule first: svc join-rule end',
  join_rule_not_found: 'svc join-rule list shows names and ids',
  rollout_not_found: 'svc rollout list shows ids and loads',
  rollout_open: ({ details }) =>
    `wait until it is done, or end it: svc rollout undo ${details['rollout']}`,
  rollout_over: 'svc load update makes the next version',
  rollout_empty: 'svc load update without --waves makes the next version',
  waves_invalid: 'write them as 1,10%,50%,100%: each is how many hosts have the version then',
  programa_invalid: 'write it as 0.5.0',
  max_failed_invalid: 'write it as 3, or as 2%',
  hubs_differ: 'svc hubs list shows the version of each hub',
  freeze_not_found: 'svc freeze --until 12h --why incident sets one',
  agent_not_found: 'svc agent list shows ids and hostnames',
  agent_not_revoked: ({ details }) => `svc agent revoke ${details['hostname']} comes first`,
  agent_revoked: ({ operation }) =>
    operation === 'pushToAgent'
      ? 'svc token create --reenroll lets a host come back'
      : 'svc agent list shows the agents that are not revoked; svc token create --reenroll lets a host come back',
  agents_unwanted: ({ request }) =>
    'tipo' in request && request.tipo === 'selado'
      ? 'name the agents in destinatarios, and leave agentes and roles empty'
      : 'leave agentes and roles empty',
  archive_running: 'try again when it is done',
  archive_unset:
    'set SVC_LOG_ARCHIVE_DIR to a directory for segments of the audit log, and start the hub again',
  archive_unusable: 'SVC_LOG_ARCHIVE_DIR names a directory with room in which the hub may write',
  bundle_in_use:
    'svc bundle status shows which agents trust which roots; --force removes the root anyway, and then you must enrol those agents again',
  bundle_invalid:
    'the file of SVC_CA_ROOT_CA_PATH holds the roots to trust, one PEM certificate after the other',
  bundle_in_waves: 'leave --waves out; a set that only adds roots may go out in waves before it',
  bundle_number: ({ details }) => NUMBER_HINTS[details['reason'] ?? ''],
  bundle_signature:
    'svc bundle prepare writes what has to be signed; agents would refuse what the hub refuses here, so nothing was changed',
  bundle_unsigned:
    'svc bundle prepare <root-file> > set.txt, sign set.txt with minisign, then svc bundle sign set.txt',
  cargo_not_automatic: ({ details }) =>
    details['tipo'] === 'selado'
      ? 'svc cannot seal a file for an agent before it enrols: use svc load create afterwards'
      : 'a policy can give only loads of type csr_cert',
  cargo_ambiguous: 'name it by its id',
  cargo_not_found: 'svc load list shows names and ids',
  cargo_not_sealed: 'only a sealed load holds a sealed file',
  cert_ttl_refused:
    'the claims of the CA’s provisioner say what it signs; --untested sets it all the same, and then no host of the role gets a certificate',
  cert_ttl_untested:
    'try again with a hub that runs and reaches the CA; --untested sets it without a trial',
  cert_ttl_too_long: 'the claims of the CA’s provisioner allow even less',
  cert_ttl_too_short:
    'an agent renews when a third of the lifetime is left, and needs time for a few attempts',
  content_missing: 'name the file with --file',
  content_too_large: ({ operation }) =>
    operation === 'pushToAgent' ? undefined : 'SVC_BLOB_MAX of the hub sets the limit',
  content_unwanted: ({ details }) =>
    details['tipo'] === 'push' ? 'svc agent push makes its next version' : undefined,
  sort_unsupported: 'svc delivery list --help says which rows come in which order',
  cursor_unknown: 'give the `next` of the previous page',
  declared_ambiguous: 'name each object once, in one file',
  declared_owned: ({ details: { manager } }) =>
    `change it in the files of ${manager}, or repeat the command with --take-over`,
  fleet_changed:
    'somebody else changed the fleet meanwhile: run svc apply again, which makes another plan',
  plan_needs_admin: 'use an admin token of role admin, or files without webhooks and admin tokens',
  delivery_ambiguous: 'name it as <hostname>/<name>, or by its id',
  delivery_not_found: 'svc delivery list shows hostnames and names',
  delivery_over: ({ details }) =>
    'replaced_by' in details
      ? 'name the delivery that replaced it'
      : 'svc load create makes a new one',
  escrow_invalid: ({ details }) =>
    'escrow' in details ? 'age-keygen -pq makes an identity, and shows its recipient' : undefined,
  hostname_enrolled: 'use --reenroll for a rebuilt host',
  hostname_has_token: ({ details }) => `svc token revoke ${details['token_id']} ends it`,
  hostname_invalid: 'labels of a-z, 0-9 and -, at most 64 characters in all',
  hostname_reserved: 'a host cannot have a name of SVC_SERVER_CN or SVC_SERVER_SANS',
  hubs_older: 'upgrade that hub first, or stop it; svc hubs remove when its machine is gone',
  hub_not_running: 'start svc-server first',
  log_not_as_signed: 'svc event list --verify says more; nothing was removed from the vault',
  modo_invalid:
    'write it in octal, such as 0644 or 0640: the owner can read the file, and not everybody can write it',
  no_bundle: 'the hub reads them from SVC_CA_ROOT_CA_PATH at its first start',
  no_hub: 'start svc-server, which reads SVC_CA_ROOT_CA_PATH',
  no_recipient: 'name agents with --agent or --role',
  nome_invalid: 'letters, digits, . _ - (not first), no two dots in a row, at most 128 characters',
  nome_taken: ({ operation, details }) => {
    if (!('arquivo' in details)) return 'give this one another name with --name'
    const rule = 'two deliveries may not write the same file'
    return operation === 'setPolicy' || operation === 'setSelectorPolicy'
      ? rule
      : `${rule}; svc load update makes a new version`
  },
  politica_changed: CHANGED,
  politica_not_found: ({ operation, details: { politica, nome } }) =>
    nome !== undefined
      ? operation === 'setSelectorPolicy'
        ? 'give --where to make one; svc policy selectors shows their names'
        : 'svc policy selectors shows their names'
      : politica === undefined
        ? 'svc policy list shows which roles have one'
        : `the policy of role ${politica} applies to it: svc policy show ${quoteForShell(politica)}`,
  recipient_changed: 'run the command again: it seals again, and shows what changed',
  recipients_incomplete: 'run the command again: it seals for the agents that have a delivery now',
  pattern_invalid:
    'write it as web-*.example.org: * stands for letters, digits and - within one label',
  reenroll_forbidden: ({ details }) => `${leaveToOperators(details)} --reenroll`,
  replay_ahead: ({ details }) => `the last finished entry is ${details['seq']}`,
  san_forbidden: ({ operation, details }) => {
    const { san } = details
    if (san !== undefined) {
      return `${leaveToOperators(details)} --san ${quoteForShell(san)}, in place of the names that it permits now`
    }
    return operation === 'setPolicy' || operation === 'setSelectorPolicy'
      ? 'permit it by --san, or leave the load out'
      : 'svc agent show names the policies of a host, svc policy show says what each permits'
  },
  san_invalid: 'names are lower case, such as shop.example.org, *.example.org or 192.0.2.7',
  san_reserved: ({ operation }) =>
    operation === 'setPolicy' || operation === 'setSelectorPolicy'
      ? 'no agent gets a certificate for a name of SVC_SERVER_CN or SVC_SERVER_SANS'
      : 'a load cannot hold a name of SVC_SERVER_CN or SVC_SERVER_SANS',
  server_certificate_root: 'first let the CA sign by a root that stays; the hub changed nothing',
  time_invalid: 'write it as 2026-01-31T12:00:00Z',
  tipo_invalid: ({ operation, details }) => {
    if (operation !== 'createWebhook') return 'use --type csr_cert or --type sealed'
    return 'tipo' in details ? 'svc event list shows types, such as entrega_falhou' : undefined
  },
  token_consumed: ({ details }) =>
    `svc agent revoke ${details['hostname']} revokes the agent that the token enrolled`,
  segment_damaged: SEGMENT,
  segment_missing: SEGMENT,
  segment_newer: 'use the newer version of the program that wrote it',
  segment_unknown: SEGMENT,
  token_not_found: 'svc token list shows ids and hostnames',
  too_many_politicas: 'svc policy remove --name makes room',
  too_many_webhooks: 'svc webhook remove makes room',
  ttl_too_long: ({ operation }) =>
    operation === 'setPolicy' || operation === 'setSelectorPolicy'
      ? 'token_ttl_max can only shorten the life of a token'
      : operation === 'createJoinRule'
        ? 'make the next rule in time: svc join-rule list shows until when each one works'
        : 'a host needs its token only once: create it just before the host enrols',
  unassigned_unwanted: 'svc seals a file only for enrolled agents',
  password_invalid:
    'a mail server with a user in its URL takes --password-file, and no other receiver does',
  headers_invalid: 'a line of the file of --header-file is such as "Authorization: Bearer …"',
  url_invalid:
    'use https://…, syslog+tls://… or otlp+https://… of any host, or http://localhost:… of this host',
  versao_changed: CHANGED,
  webhook_not_found: 'svc webhook list shows ids',
}

const NUMBER_HINTS: Readonly<Record<string, string>> = {
  not_greater: 'the number must grow; --new-epoch counts again from 1',
  too_far: 'the hub never takes a number back: add --force if you mean it',
  too_great: 'higher numbers are for later sets; --new-epoch counts again from 1',
}

function leaveToOperators({ politica = '', nome }: AdminErrorDetails): string {
  const which = nome === undefined ? quoteForShell(politica) : `--name ${quoteForShell(nome)}`
  return `an admin may do it, or let operators do it: svc policy set ${which}`
}

/** What begins a login at that hub. */
export function signInAgain(hub: string): string {
  return `svc login --hub ${hub}`
}

/** Of a code that is not ours too, undefined. */
export function findHint(code: string, refused: Refused): string | undefined {
  const hint = (HINTS as Readonly<Record<string, Hint>>)[code]
  return typeof hint === 'function' ? hint(refused) : hint
}
