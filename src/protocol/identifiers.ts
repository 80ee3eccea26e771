// Strings that must not be mixed up carry a brand, and only a parser makes a brand.

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type AgentId = Branded<'AgentId'>
export type CargoId = Branded<'CargoId'>
export type DeliveryId = Branded<'DeliveryId'>
export type EntryId = Branded<'EntryId'>
export type WebhookId = Branded<'WebhookId'>
export type JoinRuleId = Branded<'JoinRuleId'>
export type RolloutId = Branded<'RolloutId'>
/** SHA-256 of an enrolment token's plaintext: 64 lower-case hex characters. */
export type TokenHash = Branded<'TokenHash'>
/** A lower-case RFC 1123 host name of at most 64 characters, the limit of a certificate's CN (RFC 5280). */
export type Hostname = Branded<'Hostname'>
/** The name of a delivery's files in `out/`. */
export type ArtefactName = Branded<'ArtefactName'>
/** The recipient of a sealed file: a hybrid post-quantum recipient of the age format, `age1pq1…`. */
export type Recipient = Branded<'Recipient'>

/** For a schema; `isUuid` is the same. */
export const UUID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
/** For a schema; `isEventType` is the same. docs/protocol.md EVT-1. */
export const EVENT_TYPE_PATTERN = '^[a-z][a-z0-9_]{0,63}$'

const UUID = new RegExp(UUID_PATTERN)
const EVENT_TYPE = new RegExp(EVENT_TYPE_PATTERN)
const HOSTNAME_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const HOSTNAME_LENGTH_MAX = 64
const RECIPIENT = /^age1pq1[02-9ac-hj-np-z]{1952}$/
const ARTEFACT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Says nothing of whether any event has this type. */
export function isEventType(text: string): boolean {
  return EVENT_TYPE.test(text)
}

export function parseHostname(text: string): Hostname | undefined {
  if (text.length > HOSTNAME_LENGTH_MAX) return undefined
  return text.split('.').every((label) => HOSTNAME_LABEL.test(label))
    ? (text as Hostname)
    : undefined
}

/** Refuses whatever could leave its directory or hide in it: separators, leading dots, `..`. */
export function parseArtefactName(text: string): ArtefactName | undefined {
  return ARTEFACT_NAME.test(text) && !text.includes('..') ? (text as ArtefactName) : undefined
}

/** Checks the form only; the program that seals to it checks the checksum. */
export function parseRecipient(text: string): Recipient | undefined {
  return RECIPIENT.test(text) ? (text as Recipient) : undefined
}
