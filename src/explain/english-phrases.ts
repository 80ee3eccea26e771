// Parts of English sentences about entries.

import type { EntryFacts } from './entry-language.ts'

export function by({ actor }: EntryFacts, did: string): string {
  return `${actor ?? 'The hub'} ${did}`
}

/** Whatever the entry calls its reason. */
export function because({ text }: EntryFacts, before = ': '): string {
  const reason = text('erro') ?? text('reason') ?? text('why') ?? text('motivo')
  return reason === undefined ? '' : `${before}${reason.replace(/[.\s]+$/u, '')}`
}

export function cargoOf({ text }: EntryFacts): string {
  const name = text('carga_nome') ?? text('nome')
  return name === undefined ? 'a cargo' : `the cargo ${name}`
}

export function versionOf({ number }: EntryFacts): string {
  const version = number('versao')
  return version === undefined ? '' : ` in version ${version}`
}

export function certificateOf({ text }: EntryFacts): string {
  const name = text('carga_nome') ?? text('nome')
  return name === undefined ? 'its identity' : `its certificate of ${name}`
}

export function rolloutOf({ text }: EntryFacts): string {
  const kind = text('kind')
  if (kind === 'rotation') return 'the rotation of identities'
  if (kind === 'roots') return 'the rollout of trusted roots'
  return `the rollout of ${text('nome') ?? 'a cargo'}`
}

export function hostsOf({ host, text, list }: EntryFacts): string {
  const names = list('agentes')
  if (text('hostname') !== undefined || names.length === 0) return host
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} and others` : names.join(', ')
}

export function fromPlaces(addresses: readonly string[]): string {
  return addresses.length === 0 ? '' : ` (${addresses.join(', ')})`
}

export function ends(moment: string | undefined): string {
  return moment === undefined ? '' : `; it ends at ${moment}`
}

export function onDay(moment: string | undefined): string {
  return moment === undefined ? '' : ` at ${moment}`
}

export function ofMoment(moment: string | undefined): string {
  return moment === undefined ? '' : ` of ${moment}`
}

export function times({ number }: EntryFacts): string {
  const count = number('count') ?? 1
  return count > 1 ? ` (${count} times)` : ''
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
