// O que se diz onde uma passkey tem de confirmar um ato.

import type { Words } from '../words.ts'

export const confirm: Words['confirm'] = {
  title: 'Confirmar com uma passkey',
  hint: 'A sua passkey confirma este único ato. Até lá nada é feito.',
  confirm: 'Confirmar',
  waits: 'Esperando a passkey…',
  notDone: 'Nada foi feito',
  notDoneHint: 'Não foi confirmado com uma passkey.',
  missing: 'Você ainda não tem uma passkey',
  missingHint: 'Registre uma, depois faça isto de novo.',
  toAccess: 'Às suas passkeys',
  unanswered: 'Nenhuma passkey respondeu',
  unansweredHint:
    'Foi cancelado, demorou demais, ou este aparelho não tem nenhuma das suas. Tente de novo.',
  oldBrowser:
    'Este navegador é antigo demais para passkeys: Chrome 129, Firefox 128 ou Safari 18.4 as têm.',
}
