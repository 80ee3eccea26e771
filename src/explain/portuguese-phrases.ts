// Parts of sentences in Brazilian Portuguese that many entries share.

import type { EntryFacts } from './entry-language.ts'

export function by({ actor }: EntryFacts, did: string): string {
  return `${actor ?? 'O hub'} ${did}`
}

/** Whatever the entry calls its reason. */
export function because({ text }: EntryFacts, before = ': '): string {
  const reason = text('erro') ?? text('reason') ?? text('why') ?? text('motivo')
  return reason === undefined ? '' : `${before}${reason.replace(/[.\s]+$/u, '')}`
}

export function cargoOf({ text }: EntryFacts): string {
  const name = text('carga_nome') ?? text('nome')
  return name === undefined ? 'uma carga' : `a carga ${name}`
}

export function versionOf({ number }: EntryFacts): string {
  const version = number('versao')
  return version === undefined ? '' : ` na versão ${version}`
}

export function certificateOf({ text }: EntryFacts): string {
  const name = text('carga_nome') ?? text('nome')
  return name === undefined ? 'a própria identidade' : `o certificado de ${name}`
}

export function rolloutOf({ text }: EntryFacts): string {
  const kind = text('kind')
  if (kind === 'rotation') return 'a rotação de identidades'
  if (kind === 'roots') return 'a distribuição de raízes'
  return `a distribuição de ${text('nome') ?? 'uma carga'}`
}

export function hostsOf({ host, text, list }: EntryFacts): string {
  const names = list('agentes')
  if (text('hostname') !== undefined || names.length === 0) return host
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} e outros` : names.join(', ')
}

export function ends(moment: string | undefined): string {
  return moment === undefined ? '' : `; vence em ${moment}`
}

export function inMoment(moment: string | undefined): string {
  return moment === undefined ? '' : ` em ${moment}`
}

export function times({ number }: EntryFacts): string {
  const count = number('count') ?? 1
  return count > 1 ? ` (${count} vezes)` : ''
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
