// The list of hosts.

import type { Words } from '../words.ts'

export const hosts: Words['hosts'] = {
  title: 'Agentes',
  host: 'Agente',
  role: 'Papel',
  anyState: 'Qualquer estado',
  order: 'Ordem',
  states: {
    ok: 'Em dia',
    late: 'Atrasado',
    expired: 'Expirado',
    silent: 'Calado',
    connected: 'Conectado',
    revoked: 'Revogado',
  },
  sorts: {
    hostname: 'Por hostname',
    end: 'Primeiro a terminar',
    enrolled: 'Último a se inscrever',
  },
  state: 'Estado',
  ends: 'Identidade termina',
  lastPoll: 'Último contato',
  version: 'Versão',
  duplicated: 'Usado duas vezes',
  connected: 'Conectado',
  notConnected: 'Desconectado',
  never: 'nunca',
  filter: 'Hostname…',
  where: 'Seletor, como env=prod',
  empty: 'Um agente aparece aqui depois de se inscrever. Um token permite isso:',
}
