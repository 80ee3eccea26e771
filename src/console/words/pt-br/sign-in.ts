// The first screen.

import type { Words } from '../words.ts'

export const signIn: Words['signIn'] = {
  title: 'Entrar',
  intro: 'Um token de administração abre o console, com o papel que o token tem.',
  token: 'Token de administração',
  hint: 'Na máquina do hub:',
  submit: 'Entrar',
  submitting: 'Entrando…',
  empty: 'Cole um token de administração: ele começa com svca_.',
  refused: 'O hub não conhece este token, ou ele já venceu.',
  linkRefused: 'Este link já foi usado, ou o prazo dele acabou. Peça outro:',
  useLink: (name) => `Entrar com este link no lugar de ${name}?`,
  useLinkButton: 'Entrar com o link',
  stay: 'Continuar como está',
  tooMany: 'Tentativas demais deste endereço. Espere um minuto.',
  ended: 'Sua sessão terminou. Entre de novo.',
  kept: 'Também com outro token, o que você digitou continua lá, menos segredos.',
  left: 'Você saiu.',
  withProvider: (provider) => `Entrar com ${provider}`,
  begunElsewhere:
    'Esta entrada não começou nesta aba, levou mais de dez minutos, ou já foi concluída. Comece de novo aqui.',
  providerRefused: (why) =>
    `O provedor não identificou você${why === '' ? '' : ` (${why})`}. Tente de novo, ou use um token de administração.`,
  providerAway: 'O provedor não responde ao hub. Tente de novo, ou use um token de administração.',
  providerFault: (message) => `O hub não pôde usar a resposta: ${message}.`,
  noRole: (name) =>
    `Você é ${name} no provedor, e ${name} não tem papel neste hub. Peça um a quem administra o hub.`,
  nameTaken: (name) =>
    `Outra pessoa está como ${name}. Peça a quem administra o hub, que pode encerrar isso com svc admin token revoke.`,
  unreachable: 'O hub não responde.',
}
