// What kind of entry each type is, in no language: how much it asks of a person, and which page of the console it is about.

import { EventType, HubEventType } from '../protocol/words.ts'

/** `urgent` is what a person should look at; `notable` is what somebody decided; the rest is `routine`. */
export type EntrySeverity = 'urgent' | 'notable' | 'routine'

/** A page that the entry names no id of becomes the page of the entry itself. */
export type EntryPage = 'host' | 'cargo' | 'webhook' | 'roots' | 'revocations' | 'access' | 'entry'

export interface EntryKind {
  readonly severity: EntrySeverity
  readonly page: EntryPage
}

export type KnownEventType = EventType | HubEventType

function urgent(page: EntryPage): EntryKind {
  return { severity: 'urgent', page }
}

function notable(page: EntryPage): EntryKind {
  return { severity: 'notable', page }
}

function routine(page: EntryPage): EntryKind {
  return { severity: 'routine', page }
}

/** Of what agents send. */
const AGENT_KINDS: Readonly<Record<EventType, EntryKind>> = {
  agent_started: routine('host'),
  cert_renewed: routine('host'),
  entrega_instalada: routine('host'),
  entrega_entregue: routine('host'),
  entrega_falhou: urgent('host'),
  manifest_pulled: routine('host'),
  hook_falhou: urgent('host'),
  alvo_aplicado: routine('host'),
  alvo_revertido: urgent('host'),
  alvo_removido: routine('host'),
  bundle_adopted: routine('host'),
  bundle_refused: urgent('host'),
  log_epoch_adopted: routine('host'),
  log_alarm: urgent('host'),
  agent_updated: routine('host'),
  agent_update_failed: urgent('host'),
  agent_update_declined: notable('host'),
}

/** Of what the hub says of itself. */
const HUB_KINDS: Readonly<Record<HubEventType, EntryKind>> = {
  token_created: notable('entry'),
  token_revoked: notable('entry'),
  agent_enrolled: notable('host'),
  agent_revoked: urgent('host'),
  agent_removed: notable('host'),
  certificate_issued: routine('host'),
  server_certificate_issued: routine('entry'),
  certificate_discarded: notable('host'),
  certificate_answer_lost: urgent('host'),
  certificate_superseded_used: urgent('host'),
  identity_used_twice: urgent('host'),
  carga_created: notable('cargo'),
  carga_updated: notable('cargo'),
  carga_removed: notable('entry'),
  carga_selected: notable('cargo'),
  carga_assigned: routine('host'),
  entrega_cancelled: notable('host'),
  entrega_retried: notable('host'),
  labels_changed: notable('host'),
  agent_sync_requested: routine('host'),
  agent_rotate_requested: notable('host'),
  identity_recovered: notable('host'),
  identity_taken_back: notable('host'),
  recipient_changed: notable('host'),
  politica_set: notable('entry'),
  politica_removed: notable('entry'),
  bundle_changed: notable('roots'),
  audit_loss_accepted: urgent('entry'),
  passphrase_changed: notable('entry'),
  recovery_key_added: notable('entry'),
  recovery_key_removed: notable('entry'),
  vault_rekeyed: notable('entry'),
  vault_moved: notable('entry'),
  hub_joined: notable('entry'),
  hub_removed: notable('entry'),
  standby_promoted: urgent('entry'),
  certificate_late: urgent('host'),
  webhook_created: notable('webhook'),
  webhook_removed: notable('entry'),
  webhook_tested: routine('webhook'),
  webhook_replayed: notable('webhook'),
  webhook_disabled: urgent('webhook'),
  webhook_dead: urgent('webhook'),
  certificate_revoked_at_ca: routine('host'),
  certificate_not_revoked_at_ca: urgent('revocations'),
  join_rule_created: notable('entry'),
  join_rule_ended: notable('entry'),
  join_refused: urgent('entry'),
  admin_token_created: notable('access'),
  admin_token_revoked: notable('access'),
  admin_refused: urgent('access'),
  session_started: notable('access'),
  session_ended: routine('access'),
  sign_in_link_created: notable('access'),
  passkey_registered: notable('access'),
  passkey_removed: notable('access'),
  backup_started: routine('entry'),
  vault_restored: urgent('entry'),
  log_archived: routine('entry'),
  checkpoint_cosigned: routine('entry'),
  fleet_applied: notable('entry'),
  rollout_started: notable('cargo'),
  rollout_wave_opened: routine('cargo'),
  rollout_frozen: urgent('cargo'),
  rollout_paused: notable('cargo'),
  rollout_resumed: notable('cargo'),
  rollout_undone: notable('cargo'),
  rollout_done: routine('cargo'),
  freeze_set: notable('entry'),
  freeze_ended: notable('entry'),
}

/** An agent may send any type, but nobody's acts but its own: what it calls an act of the hub is of no known kind. */
export function kindOf(eventType: string, isFromAgent: boolean): EntryKind | undefined {
  const kinds: Readonly<Record<string, EntryKind>> = isFromAgent ? AGENT_KINDS : HUB_KINDS
  return Object.hasOwn(kinds, eventType) ? kinds[eventType] : undefined
}

/** The types whose entries a person should look at. */
export const URGENT_TYPES: readonly KnownEventType[] = [
  ...Object.values(EventType).filter((type) => AGENT_KINDS[type].severity === 'urgent'),
  ...Object.values(HubEventType).filter((type) => HUB_KINDS[type].severity === 'urgent'),
]
