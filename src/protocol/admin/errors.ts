// What an admin operation can refuse, with its status, and the body of every error of the admin port:
// `{error, message, details?, fields?}`. What the shell around the operations refuses is WIRE_ERRORS.

import type { Static } from 'typebox'
import { Type } from './plain-type.ts'

export const AdminErrorBody = Type.Object({
  error: Type.String({ pattern: '^[a-z][a-z0-9_]*$' }),
  /** For people; may change. */
  message: Type.String(),
  /** What to do about it: of hubs up to 0.4.0. */
  hint: Type.Optional(Type.String()),
  /** What the message says of this very case, for programs. */
  details: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** Of a request that is not valid: each field that is wrong, and why. */
  fields: Type.Optional(Type.Record(Type.String(), Type.String())),
})
export type AdminErrorBody = Static<typeof AdminErrorBody>

export type AdminErrorDetails = Readonly<Record<string, string>>

interface AdminError {
  readonly status: number
  /** When it is answered; the text of docs/reference/errors.md. */
  readonly when: string
}

export const ADMIN_ERRORS = {
  request_invalid: {
    status: 400,
    when: 'A field is missing or not valid, or two fields do not go together.',
  },
  idempotency_key_invalid: {
    status: 400,
    when: 'The `Idempotency-Key` is not 16 to 255 visible ASCII characters.',
  },
  usage: { status: 400, when: 'A replay names more than one of `seq`, `since` and `dead`.' },
  time_invalid: { status: 400, when: 'A time is not in the form of RFC 3339 with a zone.' },
  sort_unsupported: { status: 400, when: 'No index has this order for these filters.' },
  cursor_unknown: { status: 400, when: '`after` is in no page of this list.' },
  selector_invalid: { status: 400, when: 'A selector does not have the form of one.' },
  label_invalid: {
    status: 400,
    when: 'A label does not have the form of one, or only agents say it.',
  },
  selector_reported: {
    status: 400,
    when: 'A selector of what decides looks at a label that agents report.',
  },
  hostname_invalid: { status: 400, when: 'The hostname is not a lower-case host name.' },
  hostname_reserved: { status: 400, when: 'The hostname is a name of the hub itself.' },
  pattern_invalid: { status: 400, when: 'The pattern cannot name the hosts of a join rule.' },
  issuer_invalid: { status: 400, when: 'The hub cannot ask this issuer for its keys.' },
  claim_invalid: { status: 400, when: 'A claim of a join rule would let in everybody.' },
  tpm_keys_invalid: {
    status: 400,
    when: 'The list of TPMs of a join rule has one twice, or a hostname that is none of the rule.',
  },
  ca_invalid: {
    status: 400,
    when: 'The CAs of a join rule are no CA certificates that hosts can lead to.',
  },
  known_hosts_invalid: {
    status: 400,
    when: 'The known_hosts of a join rule name no host and its key.',
  },
  jwks_invalid: { status: 400, when: 'The keys of a join rule are no JSON Web Key Set.' },
  ttl_too_long: { status: 400, when: 'A token may not live that long.' },
  cert_ttl_too_short: { status: 400, when: 'A `cert_ttl` is shorter than a certificate may live.' },
  cert_ttl_refused: {
    status: 409,
    when: 'The CA signs no certificate of this life; the message has the words of the CA.',
  },
  cert_ttl_untested: {
    status: 409,
    when: 'Nobody could try whether the CA signs certificates of this life, and `untested` is not set.',
  },
  cert_ttl_too_long: { status: 400, when: 'A `cert_ttl` is longer than a certificate may live.' },
  tipo_invalid: { status: 400, when: 'The type of a carga, or of an event, is unknown here.' },
  nome_invalid: { status: 400, when: 'The `nome` cannot be the name of a file.' },
  modo_invalid: { status: 400, when: 'The `modo` is not a permitted mode of a file.' },
  san_invalid: { status: 400, when: 'A name is neither a DNS name nor an IP address.' },
  san_reserved: { status: 400, when: 'A name is, or covers, a name of the hub itself.' },
  san_forbidden: { status: 400, when: 'A politica does not permit a name.' },
  sans_unwanted: { status: 400, when: 'A sealed carga has no names.' },
  agents_unwanted: { status: 400, when: '`agentes` and `roles` have to be empty here.' },
  unassigned_unwanted: {
    status: 400,
    when: 'A sealed carga, or a carga of a selector, cannot be unassigned.',
  },
  selector_unwanted: { status: 400, when: 'A carga of this type belongs to no selector.' },
  no_recipient: { status: 400, when: 'No agent would get the carga.' },
  content_missing: { status: 400, when: 'A sealed carga needs a sealed file.' },
  content_unwanted: { status: 400, when: 'A carga of this type holds no such file.' },
  content_invalid: { status: 400, when: 'The content is not text that UTF-8 can hold.' },
  content_too_large: { status: 400, when: 'The content is over its limit.' },
  sealed_invalid: { status: 400, when: 'The hub does not accept the sealed file.' },
  escrow_invalid: {
    status: 400,
    when: 'An escrow recipient is not valid, or the request names it twice.',
  },
  password_invalid: { status: 400, when: 'The hub cannot use this password for a receiver.' },
  headers_invalid: { status: 400, when: 'The hub cannot send these headers to a receiver.' },
  url_invalid: { status: 400, when: 'The hub cannot send a webhook to this URL.' },
  bundle_invalid: { status: 400, when: 'The hub does not accept the root file.' },
  bundle_signature: {
    status: 400,
    when: 'Agents that demand the trust key would refuse what is signed, or the root file holds other roots.',
  },
  checkpoint_refused: {
    status: 400,
    when: 'The checkpoint is none of this log, or a witness has not signed it.',
  },
  passkey_invalid: {
    status: 400,
    when: 'What an authenticator made is not the passkey that the hub asked for.',
  },
  no_bundle: { status: 400, when: 'The vault has no roots yet.' },
  waves_invalid: {
    status: 400,
    when: 'The waves of a rollout are none, do not grow, or leave hosts out.',
  },
  programa_invalid: {
    status: 400,
    when: 'The version of an update is not MAJOR.MINOR.PATCH.',
  },
  max_failed_invalid: {
    status: 400,
    when: 'How many hosts of a rollout may fail is neither a number nor a percentage.',
  },
  freeze_invalid: { status: 400, when: 'A freeze ends in the past, or too late.' },
  no_hub: { status: 400, when: 'The roots change only while a hub runs.' },
  vault_embedded: {
    status: 400,
    when: 'The vault has one hub: no journal that others could share.',
  },
  hub_not_running: { status: 400, when: 'Only a running hub sends webhooks.' },

  reenroll_forbidden: {
    status: 403,
    when: 'The politica does not let a token of role operator enrol the host again.',
  },

  passkey_late: {
    status: 403,
    when: 'The first passkey of a name is registered within 5 minutes after its session began.',
  },

  plan_needs_admin: {
    status: 403,
    when: 'Only role admin sees webhooks and admin tokens, and the plan would tell of them.',
  },

  admin_token_not_found: { status: 404, when: 'No admin token has this name or id.' },
  session_not_found: {
    status: 404,
    when: 'No open session that the caller may see has this id, or none asks.',
  },
  passkey_not_found: {
    status: 404,
    when: 'No passkey that the caller may see has this name or id.',
  },
  join_rule_not_found: { status: 404, when: 'No join rule has this name or id.' },
  agent_not_found: { status: 404, when: 'No agent has this hostname or id.' },
  hub_not_found: { status: 404, when: 'No hub that shares the vault has this id or machine.' },
  cargo_not_found: { status: 404, when: 'No carga has this id, or somebody removed the carga.' },
  delivery_not_found: { status: 404, when: 'No entrega has this id.' },
  rollout_not_found: {
    status: 404,
    when: 'No rollout has this id, and none of a carga of this name is open.',
  },
  freeze_not_found: { status: 404, when: 'No freeze holds.' },
  politica_not_found: {
    status: 404,
    when: 'The role has no politica of its own, or no politica with a selector has this name.',
  },
  token_not_found: { status: 404, when: 'No enrolment token has this name.' },
  webhook_not_found: { status: 404, when: 'No webhook has this id.' },

  hubs_older: {
    status: 409,
    when: 'A hub of an earlier version shares the vault, and would not do what is asked for.',
  },
  hub_ambiguous: { status: 409, when: 'More than one hub is at a machine of this name.' },
  hub_is_this: { status: 409, when: 'A hub does not remove itself.' },
  hub_runs: { status: 409, when: 'Only with `force` a hub is removed that runs.' },
  admin_token_ambiguous: { status: 409, when: 'More than one admin token has this name.' },
  admin_token_exists: { status: 409, when: 'An admin token of this name is still good.' },
  passkey_exists: { status: 409, when: 'This passkey is registered already.' },
  passkey_missing: { status: 409, when: 'The name of the session has no passkey to confirm by.' },
  passkeys_off: {
    status: 409,
    when: 'The hub asks for no confirmations, or no session of its console asks.',
  },
  passkeys_too_many: { status: 409, when: 'The name has as many passkeys as it may have.' },
  join_rules_too_many: {
    status: 409,
    when: 'As many join rules as may do so take what this issuer, CA or key vouches for.',
  },
  join_rule_exists: { status: 409, when: 'A join rule of this name is in force.' },
  agent_not_revoked: { status: 409, when: 'Only a revoked agent can be removed.' },
  labels_too_many: { status: 409, when: 'A host would have more labels than it may have.' },
  agent_revoked: { status: 409, when: 'The agent is revoked.' },
  archive_running: { status: 409, when: 'Another archiving of the log is under way.' },
  archive_unset: { status: 409, when: 'The hub has no directory for segments of the log.' },
  archive_unusable: { status: 409, when: 'The hub cannot use its directory for segments.' },
  log_not_as_signed: {
    status: 409,
    when: 'The entries to archive are not those that the hub signed; they stay in the vault.',
  },
  segment_damaged: { status: 409, when: 'A segment of the log that is needed is damaged.' },
  segment_missing: { status: 409, when: 'A segment of the log that is needed is missing.' },
  segment_newer: { status: 409, when: 'A newer version wrote a segment that is needed.' },
  segment_unknown: { status: 409, when: 'The file of a segment that is needed is no segment.' },
  backup_running: { status: 409, when: 'Another backup is being made.' },
  bundle_in_use: { status: 409, when: 'Agents need a root that the change would remove.' },
  bundle_in_waves: {
    status: 409,
    when: 'A set that takes a root away, or begins an época, goes to all agents at once.',
  },
  bundle_number: { status: 409, when: 'The set of roots cannot have this number.' },
  bundle_unsigned: { status: 409, when: 'A trust key signs the sets, and nobody signed this one.' },
  cargo_ambiguous: { status: 409, when: 'More than one carga has this name.' },
  declared_ambiguous: {
    status: 409,
    when: 'A declaration names an object twice, or several objects by one name.',
  },
  declared_incomplete: {
    status: 409,
    when: 'An object is to be made, and the declaration lacks what it needs.',
  },
  declared_owned: { status: 409, when: 'Another manager owns a field that would change.' },
  fleet_too_large: { status: 409, when: 'One commit cannot hold all that would change.' },
  delivery_ambiguous: { status: 409, when: 'More than one present entrega has this name.' },
  selected_too_many: { status: 409, when: 'As many cargas as may do so belong to selectors.' },
  selector_missing: { status: 409, when: 'The carga belongs to no selector.' },
  still_selected: {
    status: 409,
    when: 'The host matches the selector of the carga, and would get it again.',
  },
  cargo_not_automatic: { status: 409, when: 'A politica cannot give a carga of this type.' },
  cargo_not_sealed: { status: 409, when: 'The carga holds no sealed file.' },
  delivery_over: { status: 409, when: 'The entrega is over: cancelled or replaced.' },
  dry_run_unsupported: {
    status: 409,
    when: 'Only the act itself would show what it does: whether the CA signs the hub’s next certificate by another root.',
  },
  hostname_enrolled: { status: 409, when: 'An agent has this hostname already.' },
  hostname_has_token: { status: 409, when: 'An open enrolment token names this hostname.' },
  idempotency_key_reused: {
    status: 409,
    when: 'The `Idempotency-Key` came with another request before.',
  },
  nome_taken: {
    status: 409,
    when: 'Another politica has this name, or another carga writes this file.',
  },
  recipient_changed: { status: 409, when: 'An agent has another recipient now.' },
  recipients_incomplete: { status: 409, when: 'The carga has other agents now.' },
  replay_ahead: { status: 409, when: 'The hub has sent nothing from there on yet.' },
  rollout_empty: { status: 409, when: 'No host has the carga: there is nothing to roll out to.' },
  rollout_open: { status: 409, when: 'A rollout of the carga is under way.' },
  rollout_over: { status: 409, when: 'The rollout is done, or undone.' },
  rollout_state: { status: 409, when: 'The rollout is in a state that the act does not change.' },
  hubs_differ: {
    status: 409,
    when: 'An older hub shares the vault: it knows no rollouts.',
  },
  server_certificate_root: {
    status: 409,
    when: 'The hub’s own certificate leads to a root that the change would remove.',
  },
  token_ambiguous: { status: 409, when: 'More than one enrolment token has this name.' },
  token_consumed: { status: 409, when: 'Somebody has already used the enrolment token.' },
  too_many_politicas: {
    status: 409,
    when: 'The hub has as many politicas with selectors as it may have.',
  },
  too_many_webhooks: { status: 409, when: 'The hub has as many webhooks as it may have.' },

  politica_changed: {
    status: 412,
    when: 'The politica has changed since the caller saw it.',
  },
  fleet_changed: {
    status: 412,
    when: 'What the plan looked at has changed since.',
  },
  versao_changed: {
    status: 412,
    when: 'The carga has another versao than the caller expects.',
  },
} as const satisfies Readonly<Record<string, AdminError>>

export type AdminErrorCode = keyof typeof ADMIN_ERRORS
