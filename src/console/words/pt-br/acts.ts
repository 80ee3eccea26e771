// What is said around acts: before, during, after, and when somebody else was faster.

import { atTime } from './at-time.ts'
import type { Words } from '../words.ts'

export const acts: Words['acts'] = {
  cancel: 'Cancelar',
  busy: 'Trabalhando…',
  done: 'Feito',
  nothing: 'O hub não registraria nada: já está assim.',
  hostsTold: (count) => (count === 1 ? '1 agente é avisado' : `${count} agentes são avisados`),
  typeName: (name) => `Digite ${name} para continuar`,
  changedMeanwhile: 'Alguém mudou isto enquanto estava na sua tela.',
  changedBy: (actor, time) => `${actor} mudou isto ${atTime(time)}, enquanto estava na sua tela.`,
  compare: 'Comparar…',
  seen: 'O que você viu',
  present: 'O que está lá agora',
  wanted: 'O que você quer',
  clash: 'mudado por vocês dois',
  goOn: 'Voltar ao formulário',
  takePresent: 'Começar do que está lá',
  overwrite: 'Gravar o que você quer',
  shownOnce: 'Só você vê isto, e só agora: o hub guarda apenas hashes.',
  haveCopied: 'Já copiei',
  close: 'Fechar',
  remove: 'Remover',
  create: 'Criar',
  optional: 'opcional',
  duration: 'Como 8h ou 90d',
  noName: (line) => `${line} não é um nome só: escreva um por linha.`,
  noDuration: 'Isto não é uma duração: escreva 15m, 8h ou 90d',
}
