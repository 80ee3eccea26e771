// What the hub says of itself, in English.

import type { HubEventType } from '../protocol/words.ts'
import type { EntryWords } from './entry-language.ts'
import {
  because,
  by,
  capital,
  certificateOf,
  ends,
  fromPlaces,
  hostsOf,
  cargoOf,
  ofMoment,
  onDay,
  rolloutOf,
  times,
  versionOf,
} from './english-phrases.ts'

export const ENGLISH_OF_HUB: Readonly<Record<HubEventType, EntryWords>> = {
  token_created: {
    title: 'Enrolment token made',
    sentence: (facts) => `${by(facts, 'made')} an enrolment token for ${facts.host}.`,
  },
  token_revoked: {
    title: 'Enrolment token ended',
    sentence: (facts) =>
      `${by(facts, 'ended')} the enrolment token of ${facts.host}${because(facts)}.`,
  },
  agent_enrolled: {
    title: 'Host enrolled',
    sentence: ({ host, say }) => `${host} enrolled as ${say('a host', 'role')}.`,
  },
  agent_revoked: {
    title: 'Host revoked',
    sentence: (facts) =>
      facts.text('reason') === 'silent'
        ? `The hub revoked ${facts.host}: its join rule revokes hosts that the hub has not heard of for too long.`
        : `${by(facts, 'revoked')} ${facts.host}: its certificates no longer count.`,
  },
  agent_removed: {
    title: 'Host removed',
    sentence: (facts) => `${by(facts, 'removed')} ${facts.host} from the fleet.`,
  },
  certificate_issued: {
    title: 'Certificate issued',
    sentence: ({ host, moment }) =>
      `The CA issued a certificate to ${host}${ends(moment('not_after'))}.`,
  },
  server_certificate_issued: {
    title: 'Certificate of the hub issued',
    sentence: ({ moment }) =>
      `The CA issued the hub a certificate of its own${ends(moment('not_after'))}.`,
  },
  certificate_discarded: {
    title: 'Certificate discarded',
    sentence: (facts) =>
      `The CA signed a certificate for ${facts.host} that the hub gave to nobody${because(facts)}.`,
  },
  certificate_answer_lost: {
    title: 'Answer of the CA lost',
    sentence: (facts) =>
      `The CA may have signed a certificate for ${facts.host} that the hub never saw${because(facts)}.`,
  },
  certificate_superseded_used: {
    title: 'Old identity used',
    sentence: ({ host }) =>
      `Somebody used an identity of ${host} that it has replaced: a copy or an old image of the host may be running.`,
  },
  identity_used_twice: {
    title: 'Identity used from two places',
    sentence: ({ host, list }) =>
      `The identity of ${host} is used from two places at once${fromPlaces(list('addresses'))}: one of them may be a copy.`,
  },
  carga_created: {
    title: 'Cargo made',
    sentence: (facts) => `${by(facts, 'made')} ${cargoOf(facts)}.`,
  },
  carga_updated: {
    title: 'Cargo changed',
    sentence: (facts) => `${by(facts, 'changed')} ${cargoOf(facts)}${versionOf(facts)}.`,
  },
  carga_removed: {
    title: 'Cargo removed',
    sentence: (facts) => `${by(facts, 'removed')} ${cargoOf(facts)}.`,
  },
  carga_selected: {
    title: 'Hosts of a cargo changed',
    sentence: (facts) =>
      `${by(facts, 'gave')} ${cargoOf(facts)} to hosts with ${facts.say('any labels', 'where')}.`,
  },
  carga_assigned: {
    title: 'Cargo given to a host',
    sentence: (facts) => `${facts.host} gets ${cargoOf(facts)}, because its labels match.`,
  },
  entrega_cancelled: {
    title: 'Delivery cancelled',
    sentence: (facts) => `${by(facts, 'cancelled')} a delivery to ${facts.host}${because(facts)}.`,
  },
  entrega_retried: {
    title: 'Delivery tried again',
    sentence: (facts) => `${by(facts, 'asked')} ${facts.host} to try a delivery again.`,
  },
  labels_changed: {
    title: 'Labels changed',
    sentence: (facts) => `${by(facts, 'changed')} labels of ${hostsOf(facts)}.`,
  },
  agent_sync_requested: {
    title: 'Host asked to look',
    sentence: (facts) => `${by(facts, 'asked')} ${facts.host} to look for deliveries now.`,
  },
  agent_rotate_requested: {
    title: 'Host asked to renew',
    sentence: (facts) => `${by(facts, 'asked')} ${facts.host} to renew its identity now.`,
  },
  identity_recovered: {
    title: 'Identity recovered',
    sentence: ({ host, moment }) =>
      `${host} recovered its identity after the old one had ended${onDay(moment('not_after'))}.`,
  },
  identity_taken_back: {
    title: 'Identity taken back',
    sentence: ({ host }) =>
      `The hub took back the identity of ${host}, by the receipt that the host had kept.`,
  },
  recipient_changed: {
    title: 'Sealing key',
    sentence: ({ host, text }) => {
      if (text('to') === undefined) return `${host} has no key for sealed files any more.`
      const key = text('from') === undefined ? 'a key' : 'another key'
      return `${host} has ${key} for sealed files now.`
    },
  },
  politica_set: {
    title: 'Policy set',
    sentence: (facts) =>
      `${by(facts, 'set')} the policy of ${facts.say('a role', 'nome', 'role')}.`,
  },
  politica_removed: {
    title: 'Policy removed',
    sentence: (facts) =>
      `${by(facts, 'removed')} the policy of ${facts.say('a role', 'nome', 'role')}.`,
  },
  bundle_changed: {
    title: 'Trusted roots changed',
    sentence: (facts) =>
      `${by(facts, 'changed')} the trusted roots: set ${facts.say('without a number', 'numero')} is in force.`,
  },
  audit_loss_accepted: {
    title: 'Loss in the audit log accepted',
    sentence: (facts) =>
      `${by(facts, 'accepted')} that a part of the audit log is lost${because(facts)}.`,
  },
  passphrase_changed: {
    title: 'Passphrase of the vault changed',
    sentence: (facts) => `${by(facts, 'changed')} the passphrase of the vault.`,
  },
  recovery_key_added: {
    title: 'Recovery key added',
    sentence: (facts) =>
      `${by(facts, 'added')} the recovery key ${facts.say('without a name', 'recovery_key')} to the vault.`,
  },
  recovery_key_removed: {
    title: 'Recovery key removed',
    sentence: (facts) =>
      `${by(facts, 'removed')} the recovery key ${facts.say('without a name', 'recovery_key')} from the vault.`,
  },
  vault_rekeyed: {
    title: 'Vault has a new key',
    sentence: (facts) => `${by(facts, 'gave')} the vault a new data key.`,
  },
  vault_moved: {
    title: 'Vault moved',
    sentence: (facts) => `${by(facts, 'moved')} the vault to ${facts.say('another store', 'to')}.`,
  },
  hub_joined: {
    title: 'Hub joined',
    sentence: ({ say }) =>
      `A hub on ${say('another machine', 'host', 'hub')} shares the vault now.`,
  },
  hub_removed: {
    title: 'Hub removed',
    sentence: (facts) =>
      `${by(facts, 'removed')} the hub on ${facts.say('a machine', 'host', 'hub')}.`,
  },
  standby_promoted: {
    title: 'Standby promoted',
    sentence: () => 'The standby is the hub now: somebody promoted it.',
  },
  certificate_late: {
    title: 'Certificate is late',
    sentence: (facts) =>
      `${facts.host} has not renewed ${certificateOf(facts)} since ${facts.moment('late_since') ?? 'the renewal was due'}${ends(facts.moment('not_after'))}.`,
  },
  webhook_created: {
    title: 'Webhook made',
    sentence: (facts) => `${by(facts, 'made')} a webhook to ${facts.say('a receiver', 'origin')}.`,
  },
  webhook_removed: {
    title: 'Webhook removed',
    sentence: (facts) =>
      `${by(facts, 'removed')} the webhook to ${facts.say('a receiver', 'origin')}.`,
  },
  webhook_tested: {
    title: 'Webhook tested',
    sentence: (facts) =>
      `${by(facts, 'tested')} the webhook to ${facts.say('a receiver', 'origin')}.`,
  },
  webhook_replayed: {
    title: 'Webhook replayed',
    sentence: (facts) =>
      `${by(facts, 'asked for')} messages to ${facts.say('a receiver', 'origin')} once more.`,
  },
  webhook_disabled: {
    title: 'Webhook disabled',
    sentence: (facts) =>
      `The hub sends nothing more to ${facts.say('a receiver', 'origin')}${because(facts)}.`,
  },
  webhook_dead: {
    title: 'Message given up',
    sentence: (facts) =>
      `The hub gave up a message to ${facts.say('a receiver', 'origin')}${because(facts)}.`,
  },
  certificate_revoked_at_ca: {
    title: 'Revoked at the CA',
    sentence: ({ host }) => `The CA revoked a certificate of ${host}.`,
  },
  certificate_not_revoked_at_ca: {
    title: 'Not revoked at the CA',
    sentence: (facts) =>
      `The CA did not revoke a certificate of ${facts.host}, which the hub has revoked${because(facts)}${ends(facts.moment('not_after'))}.`,
  },
  join_rule_created: {
    title: 'Join rule made',
    sentence: (facts) =>
      `${by(facts, 'made')} the join rule ${facts.say('without a name', 'join_rule', 'name')}.`,
  },
  join_rule_ended: {
    title: 'Join rule ended',
    sentence: (facts) =>
      `${by(facts, 'ended')} the join rule ${facts.say('without a name', 'join_rule', 'name')}${because(facts)}.`,
  },
  join_refused: {
    title: 'Host refused',
    sentence: (facts) =>
      `The join rule ${facts.say('without a name', 'join_rule')} did not let ${facts.host} in${because(facts)}${times(facts)}.`,
  },
  admin_token_created: {
    title: 'Admin token made',
    sentence: (facts) =>
      facts.text('by') === 'oidc'
        ? `An OpenID provider signed ${facts.say('somebody', 'name')} in, with the role ${facts.say('of a group', 'role')}.`
        : `${by(facts, 'made')} the admin token ${facts.say('without a name', 'name')}.`,
  },
  admin_token_revoked: {
    title: 'Admin token ended',
    sentence: (facts) =>
      `${by(facts, 'ended')} the admin token ${facts.say('without a name', 'name')}${because(facts)}.`,
  },
  admin_refused: {
    title: 'Admin request refused',
    sentence: (facts) =>
      `The admin port refused ${facts.say('somebody', 'name', 'actor')} at ${facts.say('an unknown address', 'address')}${because(facts)}${times(facts)}.`,
  },
  session_started: {
    title: 'Signed in',
    sentence: (facts) =>
      `${facts.say('Somebody', 'name')} signed in to the console from ${facts.say('an unknown address', 'address')}, with the role ${facts.say('of the token', 'role')}.`,
  },
  session_ended: {
    title: 'Session ended',
    sentence: (facts) =>
      `A session of ${facts.say('somebody', 'name')} at the console ended${because(facts)}.`,
  },
  sign_in_link_created: {
    title: 'Sign-in link made',
    sentence: (facts) =>
      `${by(facts, 'made')} a link that signs in once as ${facts.say('somebody', 'name')}.`,
  },
  passkey_registered: {
    title: 'Passkey registered',
    sentence: (facts) =>
      `${by(facts, 'registered')} the passkey ${facts.say('without a name', 'label')} of ${facts.say('somebody', 'name')}.`,
  },
  passkey_removed: {
    title: 'Passkey removed',
    sentence: (facts) =>
      `${by(facts, 'removed')} the passkey ${facts.say('without a name', 'label')} of ${facts.say('somebody', 'name')}.`,
  },
  backup_started: {
    title: 'Backup started',
    sentence: (facts) => `${by(facts, 'started')} a backup of the vault.`,
  },
  vault_restored: {
    title: 'Vault restored',
    sentence: ({ moment }) =>
      `The hub runs from a backup${ofMoment(moment('backup_created_at'))}: what came after it is lost, as far as nobody did it again.`,
  },
  log_archived: {
    title: 'Log archived',
    sentence: ({ say }) =>
      `Entries ${say('from the first', 'desde')} to ${say('the last', 'ate')} of the log are in the archive.`,
  },
  checkpoint_cosigned: {
    title: 'Log witnessed',
    sentence: ({ say }) =>
      `Witnesses signed the log up to entry ${say('that is in the checkpoint', 'entries')}.`,
  },
  fleet_applied: {
    title: 'Declared files applied',
    sentence: (facts) =>
      `${by(facts, 'applied')} declared files: ${facts.number('created') ?? 0} made, ${facts.number('updated') ?? 0} changed, ${facts.number('removed') ?? 0} removed.`,
  },
  rollout_started: {
    title: 'Rollout started',
    sentence: (facts) => `${by(facts, 'started')} ${rolloutOf(facts)}.`,
  },
  rollout_wave_opened: {
    title: 'Wave of a rollout opened',
    sentence: (facts) =>
      `${capital(rolloutOf(facts))} reached wave ${facts.say('after', 'wave')}, ${facts.say('some', 'hosts')} hosts.`,
  },
  rollout_frozen: {
    title: 'Rollout frozen',
    sentence: (facts) =>
      `${capital(rolloutOf(facts))} stopped in wave ${facts.say('one', 'wave')}${because(facts)}.`,
  },
  rollout_paused: {
    title: 'Rollout paused',
    sentence: (facts) => `${by(facts, 'paused')} ${rolloutOf(facts)}.`,
  },
  rollout_resumed: {
    title: 'Rollout goes on',
    sentence: (facts) => `${by(facts, 'resumed')} ${rolloutOf(facts)}.`,
  },
  rollout_undone: {
    title: 'Rollout undone',
    sentence: (facts) => `${by(facts, 'put back')} ${rolloutOf(facts)}.`,
  },
  rollout_done: {
    title: 'Rollout done',
    sentence: (facts) => `${capital(rolloutOf(facts))} reached all its hosts.`,
  },
  freeze_set: {
    title: 'Changes frozen',
    sentence: (facts) =>
      `${by(facts, 'froze')} all rollouts until ${facts.moment('until') ?? 'further notice'}${because(facts)}.`,
  },
  freeze_ended: {
    title: 'Freeze ended',
    sentence: (facts) => `${by(facts, 'ended')} the freeze: rollouts go on.`,
  },
}
