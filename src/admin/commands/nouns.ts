// The nouns of svc, and the commands of each: svc NOUN COMMAND.

import { COMMAND_WORDS } from '../../protocol/spoken-words.ts'
import { registerAdminPasskey } from './admin-passkey.ts'
import { registerAdminSession } from './admin-session.ts'
import { registerAdminToken } from './admin-token.ts'
import { registerAgenteLabel } from './agente/agente-label.ts'
import { registerAgenteList } from './agente/agente-list.ts'
import { registerAgentePush } from './agente/agente-push.ts'
import { registerAgenteRemove } from './agente/agente-remove.ts'
import { registerAgenteRevocations } from './agente/agente-revocations.ts'
import { registerAgenteRevoke } from './agente/agente-revoke.ts'
import { registerAgenteRotate } from './agente/agente-rotate.ts'
import { registerAgenteShow } from './agente/agente-show.ts'
import { registerAgenteSync } from './agente/agente-sync.ts'
import { registerAgenteUpdate } from './agente/agente-update.ts'
import { registerBundlePrepareKey } from './bundle/bundle-prepare-key.ts'
import { registerBundlePrepare } from './bundle/bundle-prepare.ts'
import { registerBundleSign } from './bundle/bundle-sign.ts'
import { registerBundleStatus } from './bundle/bundle-status.ts'
import { registerBundleUpdate } from './bundle/bundle-update.ts'
import { registerCargaCreate } from './carga/carga-create.ts'
import { registerCargaList } from './carga/carga-list.ts'
import { registerCargaRemove } from './carga/carga-remove.ts'
import { registerCargaReseal } from './carga/carga-reseal.ts'
import { registerCargaSelect } from './carga/carga-select.ts'
import { registerCargaShow } from './carga/carga-show.ts'
import { registerCargaUpdate } from './carga/carga-update.ts'
import { registerCertificadoList } from './certificado/certificado-list.ts'
import { registerConsoleLink } from './console/console-link.ts'
import { registerConsoleServe } from './console/console-serve.ts'
import type { RegisterCommand } from './command-context.ts'
import { registerEntregaCancel } from './entrega/entrega-cancel.ts'
import { registerEntregaList } from './entrega/entrega-list.ts'
import { registerEntregaRetry } from './entrega/entrega-retry.ts'
import { registerEntregaShow } from './entrega/entrega-show.ts'
import { registerEventoArchive } from './evento/evento-archive.ts'
import { registerEventoExport } from './evento/evento-export.ts'
import { registerEventoList } from './evento/evento-list.ts'
import { registerEventoProof } from './evento/evento-proof.ts'
import { registerEventoSegments } from './evento/evento-segments.ts'
import { registerEventoVerify } from './evento/evento-verify.ts'
import { registerFleetOwners } from './fleet/fleet-owners.ts'
import { registerHubsList } from './hubs/hubs-list.ts'
import { registerHubsRemove } from './hubs/hubs-remove.ts'
import { registerJoinRuleCreate } from './join-rule/join-rule-create.ts'
import { registerJoinRuleEnd } from './join-rule/join-rule-end.ts'
import { registerJoinRuleList } from './join-rule/join-rule-list.ts'
import { registerJoinRuleShow } from './join-rule/join-rule-show.ts'
import { registerPassphraseChange } from './passphrase/passphrase-change.ts'
import { registerPoliticaList } from './politica/politica-list.ts'
import { registerPoliticaRemove } from './politica/politica-remove.ts'
import { registerPoliticaSelectors } from './politica/politica-selectors.ts'
import { registerPoliticaSet } from './politica/politica-set.ts'
import { registerPoliticaShow } from './politica/politica-show.ts'
import { registerRecoveryAdd } from './recovery/recovery-add.ts'
import { registerRecoveryList } from './recovery/recovery-list.ts'
import { registerRecoveryRemove } from './recovery/recovery-remove.ts'
import {
  registerRolloutPause,
  registerRolloutResume,
  registerRolloutUndo,
} from './rollout/rollout-change.ts'
import { registerRolloutList } from './rollout/rollout-list.ts'
import { registerRolloutShow } from './rollout/rollout-show.ts'
import { registerStandbyInit } from './standby/standby-init.ts'
import { registerStandbyPromote } from './standby/standby-promote.ts'
import { registerStandbyStatus } from './standby/standby-status.ts'
import { registerTokenCreate } from './token/token-create.ts'
import { registerTokenList } from './token/token-list.ts'
import { registerTokenRevoke } from './token/token-revoke.ts'
import { registerVaultCompact } from './vault/vault-compact.ts'
import { registerVaultMigrate } from './vault/vault-migrate.ts'
import { registerVaultRekey } from './vault/vault-rekey.ts'
import { registerWebhookCreate } from './webhook/webhook-create.ts'
import { registerWebhookList } from './webhook/webhook-list.ts'
import { registerWebhookRemove } from './webhook/webhook-remove.ts'
import { registerWebhookReplay } from './webhook/webhook-replay.ts'
import { registerWebhookShow } from './webhook/webhook-show.ts'
import { registerWebhookTest } from './webhook/webhook-test.ts'

interface Noun {
  readonly name: string
  readonly alias?: string
  readonly description: string
  readonly commands: readonly RegisterCommand[]
}

export const NOUNS: readonly Noun[] = [
  {
    name: 'token',
    description: 'one-time enrolment tokens',
    commands: [registerTokenCreate, registerTokenList, registerTokenRevoke],
  },
  {
    name: 'join-rule',
    description: 'rules by which hosts enrol without a token for each of them',
    commands: [
      registerJoinRuleCreate,
      registerJoinRuleList,
      registerJoinRuleShow,
      registerJoinRuleEnd,
    ],
  },
  {
    name: COMMAND_WORDS.agente[0],
    alias: COMMAND_WORDS.agente[1],
    description: 'the enrolled hosts',
    commands: [
      registerAgenteList,
      registerAgenteShow,
      registerAgenteLabel,
      registerAgenteSync,
      registerAgenteRotate,
      registerAgenteUpdate,
      registerAgentePush,
      registerAgenteRevoke,
      registerAgenteRevocations,
      registerAgenteRemove,
    ],
  },
  {
    name: COMMAND_WORDS.certificado[0],
    alias: COMMAND_WORDS.certificado[1],
    description: 'the certificates that hosts live on',
    commands: [registerCertificadoList],
  },
  {
    name: COMMAND_WORDS.carga[0],
    alias: COMMAND_WORDS.carga[1],
    description: 'the things that the hub delivers',
    commands: [
      registerCargaCreate,
      registerCargaList,
      registerCargaShow,
      registerCargaUpdate,
      registerCargaReseal,
      registerCargaSelect,
      registerCargaRemove,
    ],
  },
  {
    name: 'rollout',
    description: 'next versions of loads that go to the hosts in waves',
    commands: [
      registerRolloutList,
      registerRolloutShow,
      registerRolloutPause,
      registerRolloutResume,
      registerRolloutUndo,
    ],
  },
  {
    name: COMMAND_WORDS.entrega[0],
    alias: COMMAND_WORDS.entrega[1],
    description: 'each agent’s share of a load',
    commands: [
      registerEntregaList,
      registerEntregaShow,
      registerEntregaCancel,
      registerEntregaRetry,
    ],
  },
  {
    name: COMMAND_WORDS.politica[0],
    alias: COMMAND_WORDS.politica[1],
    description: 'rules for the agents of a role',
    commands: [
      registerPoliticaSet,
      registerPoliticaList,
      registerPoliticaSelectors,
      registerPoliticaShow,
      registerPoliticaRemove,
    ],
  },
  {
    name: 'bundle',
    description: 'the roots that hub and agents trust',
    commands: [
      registerBundleStatus,
      registerBundleUpdate,
      registerBundlePrepare,
      registerBundleSign,
      registerBundlePrepareKey,
    ],
  },
  {
    name: COMMAND_WORDS.evento[0],
    alias: COMMAND_WORDS.evento[1],
    description: 'the audit log',
    commands: [
      registerEventoList,
      registerEventoExport,
      registerEventoProof,
      registerEventoVerify,
      registerEventoArchive,
      registerEventoSegments,
    ],
  },
  {
    name: 'fleet',
    description: 'what the files of a fleet own',
    commands: [registerFleetOwners],
  },
  {
    name: 'webhook',
    description: 'receivers of new entries of the audit log',
    commands: [
      registerWebhookCreate,
      registerWebhookList,
      registerWebhookShow,
      registerWebhookTest,
      registerWebhookReplay,
      registerWebhookRemove,
    ],
  },
  {
    name: 'passphrase',
    description: 'the master passphrase of the vault',
    commands: [registerPassphraseChange],
  },
  {
    name: 'vault',
    description: 'the vault itself',
    commands: [registerVaultRekey, registerVaultCompact, registerVaultMigrate],
  },
  {
    name: 'hubs',
    description: 'the hubs that share the vault',
    commands: [registerHubsList, registerHubsRemove],
  },
  {
    name: 'standby',
    description: 'a second machine that keeps a copy of the vault',
    commands: [registerStandbyInit, registerStandbyStatus, registerStandbyPromote],
  },
  {
    name: 'recovery',
    description: 'keys that open the vault when the passphrase is lost',
    commands: [registerRecoveryAdd, registerRecoveryList, registerRecoveryRemove],
  },
  {
    name: 'admin',
    description: 'who may use the admin port: tokens, sessions and passkeys',
    commands: [registerAdminToken, registerAdminSession, registerAdminPasskey],
  },
  {
    name: 'console',
    description: 'the pages of the hub: served here, or a link that signs in to the hub’s own',
    commands: [registerConsoleServe, registerConsoleLink],
  },
]
