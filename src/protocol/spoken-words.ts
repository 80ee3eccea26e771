// What svc and svc-agent call things towards people, in both languages: the one place of each translation (docs/protocol.md WRD-11).
// The wire, JSON, CSV and the audit log have the keys of these tables, whatever the language. No accents, as on the wire.

import { HEADING_WORDS } from './heading-words.ts'

export type Language = 'en' | 'pt'

export type Words = Readonly<Record<string, readonly [en: string, pt: string]>>

/** The nouns among the commands of svc. */
export const COMMAND_WORDS = {
  agente: ['agent', 'agente'],
  carga: ['load', 'carga'],
  certificado: ['certificate', 'certificado'],
  entrega: ['delivery', 'entrega'],
  evento: ['event', 'evento'],
  politica: ['policy', 'politica'],
} as const satisfies Words

/** Options of svc, and keys of a target's TOML. */
export const OPTION_WORDS = {
  agente: ['agent', 'agente'],
  carga: ['load', 'carga'],
  estado: ['state', 'estado'],
  'if-versao': ['if-version', 'if-versao'],
  modo: ['mode', 'modo'],
  'no-cargas': ['no-loads', 'no-cargas'],
  nome: ['name', 'nome'],
  'nova-epoca': ['new-epoch', 'nova-epoca'],
  numero: ['number', 'numero'],
  tipo: ['type', 'tipo'],
} as const satisfies Words

/** Values that options take and that are shown. */
export const VALUE_WORDS = {
  selado: ['sealed', 'selado'],
  pendente: ['pending', 'pendente'],
  em_andamento: ['in_progress', 'em_andamento'],
  instalada: ['installed', 'instalada'],
  entregue: ['delivered', 'entregue'],
  falhou: ['failed', 'falhou'],
  cancelada: ['cancelled', 'cancelada'],
  substituida: ['replaced', 'substituida'],
  revertida: ['reverted', 'revertida'],
} as const satisfies Words

/** States and other words in the place of a value, which are only shown. */
export const STATE_WORDS = {
  csr_cert: ['csr_cert', 'csr_cert'],
  next_poll: ['next_poll', 'proxima_consulta'],
  not_sealed: ['not_sealed', 'nao_selada'],
  push: ['push', 'push'],
  agente: ['agent', 'agente'],
  carga: ['load', 'carga'],
  entrega: ['delivery', 'entrega'],
  certificado: ['certificate', 'certificado'],
  evento: ['event', 'evento'],
  politica: ['policy', 'politica'],
  alarm: ['ALARM', 'ALARME'],
  registered: ['registered', 'registrado'],
  revoked: ['revoked', 'revogado'],
  atrasado: ['late', 'atrasado'],
  duplicado: ['duplicate', 'duplicado'],
  open: ['open', 'aberto'],
  consumed: ['consumed', 'usado'],
  full: ['full', 'cheio'],
  ended: ['ended', 'encerrado'],
  expired: ['expired', 'expirado'],
  fresh: ['fresh', 'novo'],
  renewing: ['renewing', 'em renovacao'],
  late: ['late', 'atrasado'],
  good: ['good', 'bom'],
  waiting: ['waiting', 'aguardando'],
  refused: ['refused', 'recusado'],
  identity: ['identity', 'identidade'],
  delivery: ['delivery', 'entrega'],
  active: ['active', 'ativo'],
  failing: ['failing', 'falhando'],
  disabled: ['disabled', 'desativado'],
  valid: ['valid', 'valido'],
  'not valid': ['not valid', 'invalido'],
  own: ['own', 'proprio'],
  yes: ['yes', 'sim'],
  no: ['no', 'nao'],
  all: ['all', 'todos'],
  urgent: ['urgent', 'urgentes'],
  ready: ['ready', 'pronto'],
  'not ready': ['not ready', 'nao pronto'],
  'not running': ['not running', 'parado'],
  none: ['none', 'nenhum'],
  present: ['present', 'presente'],
  missing: ['missing', 'ausente'],
  damaged: ['damaged', 'danificado'],
  superseded: ['superseded', 'substituido'],
  not_registered: ['not_registered', 'nao_registrado'],
  up: ['up', 'ligado'],
  down: ['down', 'desligado'],
  off: ['off', 'desativado'],
  installed: ['installed', 'instalada'],
  event_queued: ['event_queued', 'evento_na_fila'],
  done: ['done', 'concluida'],
  up_to_date: ['up to date', 'em dia'],
  applied: ['applied', 'aplicado'],
  adopted: ['adopted', 'adotado'],
  reverted: ['reverted', 'revertido'],
  held_back: ['held back', 'retido'],
  stuck: ['stuck', 'travado'],
  running: ['running', 'em execucao'],
  paused: ['paused', 'pausado'],
  frozen: ['FROZEN', 'CONGELADO'],
  undoing: ['undoing', 'desfazendo'],
  undone: ['undone', 'desfeito'],
  silent: ['silent', 'silencioso'],
  stopped: ['stopped', 'parado'],
  ok: ['ok', 'ok'],
  skipped: ['skipped', 'omitido'],
  unknown: ['unknown', 'desconhecido'],
  warning: ['warning', 'aviso'],
  error: ['error', 'erro'],
} as const satisfies Words

/** A key that a newer hub has, and this program no word for, stands for itself. */
export function headingIn(language: Language, key: string): string {
  return translate(HEADING_WORDS, language, key)
}

export function stateIn(language: Language, key: string): string {
  return translate(Object.hasOwn(VALUE_WORDS, key) ? VALUE_WORDS : STATE_WORDS, language, key)
}

function translate(words: Words, language: Language, key: string): string {
  const word = Object.hasOwn(words, key) ? words[key] : undefined
  if (word === undefined) return key
  return language === 'en' ? word[0] : word[1]
}

/** Undefined for what is no language; the empty one is the default. */
export function parseLanguage(text: string | undefined): Language | undefined {
  if (text === undefined || text === '' || text === 'en') return 'en'
  return text === 'pt' ? 'pt' : undefined
}

/** What a command line may say for a value of the wire; any other word is what it is. docs/protocol.md WRD-10. */
export function toWireValue(word: string): string {
  const found = Object.entries(VALUE_WORDS).find(([, [en]]) => en === word)
  return found?.[0] ?? word
}

/** Of words for one thing, those of the language; all where none of them is of the other one. */
export function namesIn(language: Language, words: readonly string[]): readonly string[] {
  const other = language === 'en' ? 1 : 0
  const foreign = new Set<string>()
  for (const pair of [...Object.values(COMMAND_WORDS), ...Object.values(OPTION_WORDS)]) {
    for (const dashes of ['', '--']) {
      const [en, pt] = pair.map((word) => dashes + word)
      if (words.includes(String(en)) && words.includes(String(pt)))
        foreign.add(dashes + pair[other])
    }
  }
  return words.filter((word) => !foreign.has(word))
}

/** The flags of an option in both languages, the English one first: `--name, --nome`. docs/protocol.md CLI-55. */
export function flagOf(key: keyof typeof OPTION_WORDS): string {
  const [en, pt] = OPTION_WORDS[key]
  return `--${en}, --${pt}`
}
