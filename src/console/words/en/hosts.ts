// The list of hosts.

export const hosts = {
  title: 'Hosts',
  host: 'Host',
  role: 'Role',
  state: 'State',
  ends: 'Identity ends',
  lastPoll: 'Last poll',
  version: 'Agent',
  late: 'Late',
  expired: 'Expired',
  revoked: 'Revoked',
  onTime: 'On time',
  duplicated: 'Used twice',
  connected: 'Connected',
  notConnected: 'Not connected',
  never: 'never',
  filter: 'Hostname…',
  where: 'Selector, such as env=prod',
  empty: 'A host is here once it has enrolled. A token lets one enrol:',
}
