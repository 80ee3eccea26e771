// The list of hosts.

export const hosts = {
  title: 'Hosts',
  host: 'Host',
  role: 'Role',
  anyState: 'Any state',
  order: 'Order',
  /** What the hub lists as `late`: docs/protocol.md API-123. */
  lateOrExpired: 'Late or expired',
  states: {
    ok: 'On time',
    late: 'Late',
    expired: 'Expired',
    silent: 'Silent',
    connected: 'Connected',
    revoked: 'Revoked',
  },
  sorts: { hostname: 'By hostname', end: 'First end first', enrolled: 'Last enrolled first' },
  state: 'State',
  ends: 'Identity ends',
  lastPoll: 'Last poll',
  version: 'Agent',
  duplicated: 'Used twice',
  connected: 'Connected',
  notConnected: 'Not connected',
  never: 'never',
  filter: 'Hostname…',
  where: 'Selector, such as env=prod',
  empty: 'A host is here once it has enrolled. A token lets one enrol:',
}
