// Selar um arquivo no navegador.

import type { Words } from '../words.ts'
import { plural } from './plural.ts'

export const seal: Words['seal'] = {
  title: 'Selar um arquivo',
  above: 'Cargas',
  off: 'Esta página não sela',
  offHint:
    'Foi o hub que a serviu, e é o hub que não deve ler o arquivo: um hub em mãos erradas poderia enviar uma página que revela o segredo. Sele com o svc, ou abra o console da sua própria máquina:',
  intro: (hub: string) =>
    `O arquivo é selado neste navegador, e só o arquivo selado vai para ${hub}. Esta página veio do svc desta máquina.`,
  byHub:
    'Esta página veio do hub: quem tem o hub nas mãos poderia ler o que você digita aqui. svc console é o modo que exclui isso.',
  byHubHint:
    'O arquivo é selado neste navegador, e só o arquivo selado vai para o hub, enquanto o hub enviar a página que deve.',
  name: 'Nome',
  nameHint: 'O arquivo nas máquinas: out/<nome>',
  agents: 'Agentes',
  agentsHint: 'Hostnames, separados por espaços',
  role: 'Papel',
  roleHint: 'Todos os agentes deste papel',
  where: 'Seletor',
  whereHint: 'No lugar dos dois, como env=prod: também agentes que venham a corresponder depois',
  next: (cargo: string, version: number) =>
    `Versão ${version} de ${cargo}, para os agentes que a têm.`,
  secret: 'Segredo',
  secretHint: 'Como digitado: nenhum fim de linha é acrescentado',
  file: 'Ou um arquivo',
  pins: 'Destinatários que você conhece (opcional)',
  pinsHint:
    'recipients.json: o do svc, ou o que esta página lhe deu. É lido nesta página e não é enviado a ninguém. Sem ele, você digita a impressão digital de cada host.',
  pinsInvalid:
    'O arquivo de destinatários está danificado, é grande demais ou de uma versão mais nova: escolha o recipients.json do svc, ou nenhum.',
  savePins: 'Salvar recipients.json',
  savePinsHint:
    'Esta página não guarda destinatários. Salve-os e escolha o arquivo da próxima vez: então só os novos e os alterados são perguntados.',
  submit: 'Selar e entregar',
  judging: 'Perguntando para quem…',
  sealing: (done: number, total: number) =>
    `Selando para ${done} de ${plural(total, 'destinatário', 'destinatários')}…`,
  sending: 'Enviando o arquivo selado…',
  noName: 'Dê um nome.',
  noWhom: 'Diga para quais agentes, papel ou seletor.',
  bothWhom: 'Um seletor fica sozinho: deixe agentes e papel vazios.',
  noSecret: 'Digite o segredo ou escolha um arquivo.',
  twoSecrets: 'Digite o segredo ou escolha um arquivo, não os dois.',
  tooLarge: (bytes: string, most: string) =>
    `Tem ${bytes} bytes; um arquivo selado comporta ${most}.`,
  sealedTooLarge: (recipients: number, bytes: string, most: string) =>
    `Selado para ${plural(recipients, 'destinatário', 'destinatários')} tem ${bytes} bytes, e o hub aceita ${most}: faça vários, cada um para alguns dos agentes.`,
  sendAgain: 'Enviar o arquivo selado de novo',
  thisFile: 'o arquivo que você sela',
  nobody: 'Não há para quem selar.',
  tooMany: (recipients: number) =>
    `Um hub aceita menos de ${recipients} destinatários por arquivo: faça vários, cada um para alguns dos agentes.`,
  unasked: (host: string) =>
    `O hub nomeia o agente ${host}, que você não nomeou. Nada foi selado; não confie no hub antes de saber por quê.`,
  missing: (host: string) =>
    `O hub deixa de fora ${host}, que você nomeou. Nada foi selado; não confie no hub antes de saber por quê.`,
  absent: (hosts: string) =>
    `Estes agentes não disseram ao hub um destinatário para quem selar: ${hosts}`,
  nameless: (hosts: string) => `O hub nomeia agentes cujos nomes não são nomes de host: ${hosts}`,
  malformed: (hosts: string) => `O que o hub nomeia não é um destinatário age1pq1…: ${hosts}`,
  unmatched: (fingerprints: string) =>
    `O hub não nomeia mais ninguém cujo destinatário seja ${fingerprints}: olhe de novo.`,
  shared: (fingerprint: string, hosts: string) =>
    `O hub nomeia um destinatário para vários: ${hosts} (${fingerprint}). Cada agente tem o seu.`,
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
