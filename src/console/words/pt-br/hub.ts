// Os hubs, e onde o log é guardado.

import type { Words } from '../words.ts'
import { plural } from './plural.ts'

export const hub: Words['hub'] = {
  title: 'Hubs e guarda do log',
  hubs: 'Hubs deste cofre',
  oneHub: 'Um só hub tem este cofre',
  oneHubHint:
    'Outros podem dividi-lo em um PostgreSQL, ou um standby em outra máquina guarda uma cópia. Cada máquina diz até onde o seu standby chegou:',
  machine: 'Máquina',
  unknownMachine: 'desconhecida',
  thisOne: 'responde aqui',
  state: 'Estado',
  states: { running: 'Rodando', silent: 'Em silêncio', stopped: 'Parado' },
  behind: 'Atraso',
  notBehind: 'tem tudo',
  records: (count) => (count === '1' ? '1 registro' : `${count} registros`),
  clock: 'Relógio',
  seconds: (seconds) => `${seconds} s`,
  leases: 'Faz por todos',
  version: 'Versão',
  heard: 'Último sinal',
  gone: 'Quando uma máquina se foi de vez, outro hub a retira:',
  checkpoints: 'Checkpoints do log',
  noneSigned: 'Nenhum checkpoint ainda',
  noneSignedHint: 'O hub assina o primeiro até um segundo depois de iniciar.',
  newest: 'Mais novo',
  coversAll: (entries) => `cobre o log inteiro, ${plural(entries, 'evento', 'eventos')}`,
  covers: (entries, all) => `cobre ${entries} de ${plural(all, 'evento', 'eventos')}`,
  places: 'Lugares',
  unknownPlaces: 'não se sabe: nenhum hub está rodando para olhar',
  inVault: 'No cofre',
  outside: 'Fora dele',
  outsideHint:
    'Quem põe um cofre antigo de volta põe junto o checkpoint dele. Indique um diretório de outra máquina na configuração do hub:',
  nowhere: 'Não guardado',
  placeWhole: 'Log inteiro',
  notYet: 'ainda não desde o início do hub',
  placeBehind: 'Não o log inteiro',
  logKey: 'Chave do log',
  keepOne:
    'Guarde um em outro lugar de vez em quando: ele mostra se alguém mudou um evento que ele cobre.',
  witnesses: 'Testemunhas',
  inLog: 'No log',
  noWitness: 'Ninguém mais assinou o log',
  noWitnessHint:
    'Uma testemunha atesta que todos veem o mesmo log. Envie a ela o pedido e guarde a resposta:',
  witness: 'Testemunha',
  signedAt: 'Assinou',
  cosignedOf: (witnesses, entries) =>
    `${witnesses === 1 ? 'Ela assinou' : 'Elas assinaram'} o log até o evento ${entries}.`,
  since: (count) => (count === '1' ? '1 evento é mais novo.' : `${count} eventos são mais novos.`),
  hubChecked: (witnesses) =>
    `O hub conferiu ${witnesses === 1 ? 'a assinatura' : 'as assinaturas'}. Para a próxima:`,
  segments: 'Eventos arquivados',
  directory: 'Diretório',
  disk: 'Disco do cofre',
  free: (size) => `${size} livres`,
  vaultHas: (size) => `o cofre tem ${size}`,
  grows: (size) => `${size} a mais por dia`,
  faulty: (count) =>
    count === 1 ? '1 arquivo falta ou tem defeito' : `${count} arquivos faltam ou têm defeito`,
  faultyHint:
    'Os eventos deles não podem ser listados nem conferidos até os arquivos voltarem da cópia para o diretório.',
  entries: 'Eventos',
  span: 'De, até',
  size: 'Tamanho',
  file: 'Arquivo',
  segmentStates: { present: 'Presente', missing: 'Falta', damaged: 'Com defeito' },
  allInVault: 'Todos os eventos estão no cofre',
  noDirectory:
    'Quando SVC_LOG_ARCHIVE_DIR do hub indicar um diretório, eventos podem ir para ele. Isto leva os que têm mais de 180 dias; os dos últimos 30 dias sempre ficam:',
  canLeave: (directory) =>
    `Eventos podem ir para ${directory}. Isto leva os que têm mais de 180 dias; os dos últimos 30 dias sempre ficam:`,
  moreCanLeave: 'Tirar do cofre os que já têm mais de 180 dias:',
}
