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
  ended: 'Sua sessão terminou. Entre de novo: o que você digitou continua lá.',
  left: 'Você saiu.',
  unreachable: 'O hub não responde.',
}
