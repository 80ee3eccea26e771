// The dictionary: the wire, the tables and the CLI's nouns speak the specification's Portuguese, code speaks
// English. Values stay the wire's literals; only their names are translated.
//
//   agente Agent · carga Cargo · entrega Delivery · politica Policy · tipo kind · nome name · versao version
//   admin token AccessToken
//   evento: AgentEvent when sent, AuditEntry when stored · hash_atual hash · hash_anterior previousHash · erro error

export const DeliveryKind = {
  csrCert: 'csr_cert',
  sealed: 'selado',
  push: 'push',
} as const
export type DeliveryKind = (typeof DeliveryKind)[keyof typeof DeliveryKind]

export const DeliveryStatus = {
  pending: 'pendente',
  inProgress: 'em_andamento',
  installed: 'instalada',
  delivered: 'entregue',
  failed: 'falhou',
  cancelled: 'cancelada',
  replaced: 'substituida',
} as const
export type DeliveryStatus = (typeof DeliveryStatus)[keyof typeof DeliveryStatus]

/** Events that agents send; the hub accepts others of the same form, and records them without side effects. */
export const EventType = {
  agentStarted: 'agent_started',
  certRenewed: 'cert_renewed',
  deliveryInstalled: 'entrega_instalada',
  deliveryDelivered: 'entrega_entregue',
  deliveryFailed: 'entrega_falhou',
  manifestPulled: 'manifest_pulled',
  hookFailed: 'hook_falhou',
  targetApplied: 'alvo_aplicado',
  targetReverted: 'alvo_revertido',
  targetRemoved: 'alvo_removido',
  bundleAdopted: 'bundle_adopted',
  bundleRefused: 'bundle_refused',
  logEpochAdopted: 'log_epoch_adopted',
  logAlarm: 'log_alarm',
  agentUpdated: 'agent_updated',
  agentUpdateFailed: 'agent_update_failed',
  agentUpdateDeclined: 'agent_update_declined',
} as const
export type EventType = (typeof EventType)[keyof typeof EventType]

/** Entries that the hub writes about its own acts; their sender is null. */
export const HubEventType = {
  tokenCreated: 'token_created',
  tokenRevoked: 'token_revoked',
  agentEnrolled: 'agent_enrolled',
  agentRevoked: 'agent_revoked',
  agentRemoved: 'agent_removed',
  certificateIssued: 'certificate_issued',
  serverCertificateIssued: 'server_certificate_issued',
  certificateDiscarded: 'certificate_discarded',
  certificateAnswerLost: 'certificate_answer_lost',
  certificateSuperseded: 'certificate_superseded_used',
  identityUsedTwice: 'identity_used_twice',
  cargoCreated: 'carga_created',
  cargoUpdated: 'carga_updated',
  cargoRemoved: 'carga_removed',
  cargoSelected: 'carga_selected',
  cargoAssigned: 'carga_assigned',
  deliveryCancelled: 'entrega_cancelled',
  deliveryRetried: 'entrega_retried',
  labelsChanged: 'labels_changed',
  agentSyncRequested: 'agent_sync_requested',
  agentRotateRequested: 'agent_rotate_requested',
  identityRecovered: 'identity_recovered',
  identityTakenBack: 'identity_taken_back',
  recipientChanged: 'recipient_changed',
  policySet: 'politica_set',
  policyRemoved: 'politica_removed',
  bundleChanged: 'bundle_changed',
  lossAccepted: 'audit_loss_accepted',
  passphraseChanged: 'passphrase_changed',
  recoveryKeyAdded: 'recovery_key_added',
  recoveryKeyRemoved: 'recovery_key_removed',
  vaultRekeyed: 'vault_rekeyed',
  vaultMoved: 'vault_moved',
  hubJoined: 'hub_joined',
  hubRemoved: 'hub_removed',
  standbyPromoted: 'standby_promoted',
  certificateLate: 'certificate_late',
  webhookCreated: 'webhook_created',
  webhookRemoved: 'webhook_removed',
  webhookTested: 'webhook_tested',
  webhookReplayed: 'webhook_replayed',
  webhookDisabled: 'webhook_disabled',
  webhookDead: 'webhook_dead',
  certificateRevokedAtCa: 'certificate_revoked_at_ca',
  certificateNotRevokedAtCa: 'certificate_not_revoked_at_ca',
  joinRuleCreated: 'join_rule_created',
  joinRuleEnded: 'join_rule_ended',
  joinRefused: 'join_refused',
  accessTokenCreated: 'admin_token_created',
  accessTokenRevoked: 'admin_token_revoked',
  adminRefused: 'admin_refused',
  sessionStarted: 'session_started',
  sessionEnded: 'session_ended',
  signInLinkCreated: 'sign_in_link_created',
  passkeyRegistered: 'passkey_registered',
  passkeyRemoved: 'passkey_removed',
  backupStarted: 'backup_started',
  vaultRestored: 'vault_restored',
  logArchived: 'log_archived',
  checkpointCosigned: 'checkpoint_cosigned',
  fleetApplied: 'fleet_applied',
  rolloutStarted: 'rollout_started',
  rolloutWaveOpened: 'rollout_wave_opened',
  rolloutFrozen: 'rollout_frozen',
  rolloutPaused: 'rollout_paused',
  rolloutResumed: 'rollout_resumed',
  rolloutUndone: 'rollout_undone',
  rolloutDone: 'rollout_done',
  freezeSet: 'freeze_set',
  freezeEnded: 'freeze_ended',
} as const
export type HubEventType = (typeof HubEventType)[keyof typeof HubEventType]

/** Why an agent renewed a certificate: the `trigger` of `cert_renewed`. */
export const RenewalTrigger = {
  autoThreshold: 'auto_threshold',
  manual: 'manual',
  delivery: 'delivery',
  recovery: 'recovery',
} as const
export type RenewalTrigger = (typeof RenewalTrigger)[keyof typeof RenewalTrigger]

/** Sent by `svc webhook test` alone; no entry of the log has this type from the hub. */
export const WEBHOOK_TEST = 'webhook_test'

export const WebhookState = {
  active: 'active',
  failing: 'failing',
  disabled: 'disabled',
} as const
export type WebhookState = (typeof WebhookState)[keyof typeof WebhookState]
