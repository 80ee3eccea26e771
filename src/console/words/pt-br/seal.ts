// Selar um arquivo no navegador.

import type { Words } from '../words.ts'

export const seal: Words['seal'] = {
  title: 'Selar um arquivo',
  above: 'Cargas',
  off: 'Esta página não sela',
  offHint:
    'Foi o hub que a serviu, e é o hub que não deve ler o arquivo: um hub em mãos erradas poderia enviar uma página que revela o segredo. Sele com o svc, ou abra o console da sua própria máquina:',
  intro: (hub: string) =>
    `O arquivo é selado neste navegador, e só o arquivo selado vai para ${hub}. Esta página veio do svc desta máquina.`,
  name: 'Nome',
  nameHint: 'O arquivo nas máquinas: out/<nome>',
  agents: 'Agentes',
  agentsHint: 'Hostnames, separados por espaços',
  role: 'Papel',
  roleHint: 'Todos os agentes deste papel',
  where: 'Seletor',
  whereHint: 'No lugar dos dois, como env=prod: também agentes que venham a corresponder depois',
  next: (cargo: string) => `A próxima versão de ${cargo}, para os agentes que a têm.`,
  secret: 'Segredo',
  secretHint: 'Como digitado: nenhum fim de linha é acrescentado',
  file: 'Ou um arquivo',
  submit: 'Selar e entregar',
  judging: 'Perguntando para quem…',
  sealing: (done: number, total: number) => `Selando para ${done} de ${total} destinatários…`,
  sending: 'Enviando o arquivo selado…',
  noName: 'Dê um nome.',
  noWhom: 'Diga para quais agentes, papel ou seletor.',
  bothWhom: 'Um seletor fica sozinho: deixe agentes e papel vazios.',
  noSecret: 'Digite o segredo ou escolha um arquivo.',
  twoSecrets: 'Digite o segredo ou escolha um arquivo, não os dois.',
  tooLarge: (bytes: string, most: string) =>
    `Tem ${bytes} bytes; um arquivo selado comporta ${most}.`,
  strangers: 'Destinatários que ninguém confirmou ainda',
  strangersHint:
    'O hub diz que estes destinatários são dos agentes. Execute svc-agent identity em cada máquina e digite aqui a impressão digital que o agente mostra. Se for diferente da mostrada, não sele nada, e não confie no hub antes de saber por quê.',
  escrow: 'custódia',
  newHere: 'novo aqui',
  was: (fingerprint: string) => `era ${fingerprint}`,
  typed: (hostname: string) => `Impressão digital que ${hostname} mostra`,
  differs: 'Não é a impressão digital que o hub diz.',
  done: (cargo: string) => `Selada e entregue: carga ${cargo}`,
  doneHint: 'O formulário está vazio de novo; nada do segredo foi guardado.',
  sealedFor: 'Selada para',
  leftOut: (hosts: string) => `Estes esperam, pois não informaram um destinatário: ${hosts}`,
  notKept:
    'Foi entregue, mas o svc não conseguiu anotar os destinatários: ele pergunta de novo na próxima vez.',
  host: 'Agente',
  fingerprint: 'Impressão digital',
}
