// The list of hosts.

import type { Words } from '../words.ts'

export const hosts: Words['hosts'] = {
  title: 'Agentes',
  host: 'Agente',
  role: 'Papel',
  state: 'Estado',
  ends: 'Identidade termina',
  lastPoll: 'Último contato',
  version: 'Versão',
  late: 'Atrasado',
  expired: 'Expirado',
  revoked: 'Revogado',
  onTime: 'Em dia',
  duplicated: 'Usado duas vezes',
  connected: 'Conectado',
  notConnected: 'Desconectado',
  never: 'nunca',
  filter: 'Hostname…',
  where: 'Seletor, como env=prod',
  empty: 'Um agente aparece aqui depois de se inscrever. Um token permite isso:',
}
