// The list of deliveries, and what failed by its reason.

import { plural } from './plural.ts'

export const deliveries = {
  title: 'Deliveries',
  host: 'Host',
  cargo: 'Cargo',
  status: 'Status',
  anyStatus: 'Any status',
  reason: 'Reason',
  since: 'Since',
  filter: 'Hostname…',
  where: 'Selector, such as env=prod',
  byCargo: 'Cargo, by name',
  byAgent: 'Host, by name',
  byRole: 'Role',
  late: 'Late only',
  order: 'Order',
  sorts: { host: 'By hostname', created: 'Oldest first', updated: 'Longest as it is first' },
  empty: 'A delivery is here once a cargo has a host. A certificate for one host:',
  groups: 'Why they fail',
  groupsHint: 'one line for one reason, of the newest thousand',
  failedLike: (count: number, nome: string) =>
    count === 1
      ? `A delivery of ${nome} failed`
      : `${plural(count, 'delivery', 'deliveries')}, such as ${nome}, failed`,
  waitLike: (count: number, nome: string) =>
    count === 1
      ? `A delivery of ${nome} waits`
      : `${plural(count, 'delivery', 'deliveries')}, such as ${nome}, wait`,
  such: (host: string) => `on ${host}`,
  asksAgain: 'The host asks again by itself.',
  noReason: 'The host gave no reason.',
  seeWhy: 'See why',
  retryGroup: 'Retry this group…',
  retryTitle: 'Try this group again',
  retryShown: (count: number) => `Retry ${count === 1 ? 'this one' : `these ${count}`}…`,
  retryShownTitle: (count: number) => `Try ${plural(count, 'delivery', 'deliveries')} again`,
  retryOne: 'Try again…',
  retryOneTitle: (name: string) => `Try ${name} again`,
  retryButton: 'Try again',
  retryText: 'Each of them is replaced by a new delivery, and its host is told.',
  again: {
    host: 'It will fail again in the same way until the cause is gone from the host: a disk, a file, a hook there. The host said this itself, and tries what passes by itself.',
    seal: 'It will fail again in the same way: the file is not sealed for what the host has now. Only a new seal helps:',
    rule: 'It will fail again in the same way until the policy or the names of the cargo are changed: the hub refused it.',
    passing: 'The cause may have passed: the CA or the store did not answer in time.',
    unknown: 'It will fail again in the same way, unless the cause is gone.',
  },
  names: 'Names',
  version: 'Version',
  id: 'Id',
  reverted: 'Targets that were taken back',
  waiting: 'What the hub last answered',
  printed: 'What the host said',
  replacedBy: 'Replaced by',
  cancel: 'Cancel delivery…',
  cancelTitle: (name: string) => `Cancel ${name}`,
  cancelText: (host: string) =>
    `The files stay on ${host}, and are no longer renewed. A cancelled delivery does not come back.`,
  cancelButton: 'Cancel delivery',
  close: 'Close',
}
