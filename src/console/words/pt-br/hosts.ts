// The list of hosts.

import type { Words } from '../words.ts'

export const hosts: Words['hosts'] = {
  title: 'Agentes',
  host: 'Agente',
  role: 'Papel',
  anyState: 'Qualquer estado',
  order: 'Ordem',
  lateOrExpired: 'Atrasado ou expirado',
  states: {
    ok: 'Em dia',
    late: 'Atrasado',
    expired: 'Expirado',
    silent: 'Sem contato',
    connected: 'Conectado',
    revoked: 'Revogado',
  },
  sorts: {
    hostname: 'Por hostname',
    end: 'Primeiro a vencer',
    enrolled: 'Último a se inscrever',
  },
  state: 'Estado',
  ends: 'Identidade vence',
  lastPoll: 'Último contato',
  version: 'Versão',
  duplicated: 'Em uso em dois lugares',
  connected: 'Conectado',
  notConnected: 'Desconectado',
  never: 'nunca',
  filter: 'Hostname…',
  where: 'Seletor, como env=prod',
  empty: 'Um agente aparece aqui depois de se inscrever. Um token permite isso:',
}
