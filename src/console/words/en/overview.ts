// The first screen.

import { plural } from './plural.ts'

export const overview = {
  title: 'Overview',
  late: (count: number) => `${plural(count, 'host is', 'hosts are')} late.`,
  expired: (count: number) => `${plural(count, 'host has', 'hosts have')} expired.`,
  firstEnds: (duration: string) => `The first certificate ends in ${duration}.`,
  well: (count: number) =>
    `${count === 1 ? 'The one host renews' : `All ${plural(count, 'host renews', 'hosts renew')}`} on time.`,
  empty: 'No host has enrolled yet.',
  emptyHint: 'Three commands bring the first one in:',
  emptyToken: 'On the hub: a token for its hostname.',
  emptyEnrol: 'On the host: the command that the token came with enrols it, and its agent starts.',
  emptyCargo: 'On the hub: a certificate for it.',
  orHere: 'Or by a form here',
  hubNotReady: (names: string) => `The hub is not ready: ${names}.`,
  caNotReady: 'The CA signs nothing.',
  caEnds: (duration: string) =>
    `The first host loses a certificate in ${duration}, unless it comes back.`,
  others: (count: string) =>
    count === '1' ? 'The other one renews on time.' : `The other ${count} renew on time.`,
  ready: 'The hub, its store and the CA are ready.',
  withoutHub: 'No hub runs: what is live is not known.',
  silentFor: (duration: string) => `silent for ${duration}`,
  neverSeen: 'never heard of',
  refusedBy: 'the hub refuses it',
  polls: 'does not renew',
  since: (time: string) => `since ${time}`,
  mayStayDown: 'The hub may stay down for',
  nothingEnds: 'As long as you like: no certificate in use could end.',
  noneOnTime: 'No host is on time: each minute counts.',
  thenLoses: (purpose: string) => ` loses ${purpose}.`,
  thenHost: 'Then ',
  identity: 'its identity',
  lateNotCounted: (count: number) =>
    ` ${plural(count, 'host that is late or has expired is', 'hosts that are late or have expired are')} not counted: ${count === 1 ? 'it does' : 'they do'} not renew anyway.`,
  after: (hours: number) => `after ${hours} h`,
  hosts: (count: string) => plural(count, 'host', 'hosts'),
  endsHeading: 'Certificates by when they end',
  noEnds:
    'Once a host has a certificate, this shows when each one ends and when its renewal is expected.',
  endsTitle: (most: string) =>
    `Certificates in use by when they end, and below them the renewals that are expected. The highest bar is ${most}.`,
  bucket: (time: string, count: string) => `${time}: ${plural(count, 'ends', 'end')}`,
  wave: (count: string, span: string) => `Wave: ${plural(count, 'ends', 'end')} ${span}`,
  renewalsExpected: (perMinute: string) => `Renewals expected, ${perMinute} a minute at most`,
  later: (count: string) => `${plural(count, 'ends', 'end')} later`,
  states: { expired: 'Expired', atrasado: 'Late', renewing: 'Renewing', fresh: 'Fresh' },
  renewals: 'Renewals expected',
  from: 'From',
  asTable: 'As a table',
  asPicture: 'As a picture',
  span: 'Span',
  spans: { '6h': '6 h', '48h': '48 h', '7d': '7 d' },
  attention: 'Needs attention',
  urgentFirst: 'most urgent first',
  nothingWaits: 'Nothing needs anybody.',
  ends: (time: string) => `ends ${time}`,
  ended: (time: string) => `ended ${time}`,
  openHost: 'Open host',
  seeWhy: 'See why',
  silentTitle: (host: string) => `${host} does not renew`,
  silentText: (isConnected: boolean, silence: string) =>
    isConnected
      ? `Connected, but it asks for nothing: look at the agent’s log. ${silence}.`
      : `Not connected, nothing refused, ${silence}: the host or its network is down.`,
  pollsText: (duration: string) =>
    `Polled ${duration} ago, but asks for no certificate: see the agent’s log.`,
  refusedTitle: (hosts: string, count: number) =>
    `${hosts} ${count === 1 ? 'asks' : 'ask'} in vain`,
  and: (all: string, more: number) => (more === 0 ? all : `${all} and ${more} more`),
  expiredTitle: (host: string) => `${host} has expired`,
  expiredText: (silence: string) =>
    `${silence}. It recovers by itself while the recovery grace lasts; after that it needs a token.`,
  failedTitle: (count: number, nome: string) =>
    count === 1
      ? `A delivery of ${nome} failed`
      : `${plural(count, 'delivery', 'deliveries')}, such as ${nome}, failed for one reason`,
  waitingTitle: (count: number, nome: string) =>
    count === 1
      ? `A delivery of ${nome} waits`
      : `${plural(count, 'delivery', 'deliveries')}, such as ${nome}, wait for one reason`,
  onHost: (host: string, reason: string) => `${host}: ${reason}`,
  frozenTitle: (name: string) => `The rollout of ${name} is frozen`,
  openRollout: 'Open rollout',
  notRevokedTitle: (count: number) =>
    `${plural(count, 'certificate is', 'certificates are')} not revoked at the CA`,
  notRevokedText: (reason: string) =>
    `${reason.replace(/[.\s]*$/, '.')} The hub refuses the hosts all the same.`,
  whatToDo: 'What to do',
  webhookDisabled: (origin: string) => `Webhook ${origin} is disabled`,
  webhookTitle: (origin: string, waiting: string) =>
    `Webhook ${origin} is ${waiting === '1' ? '1 message' : `${waiting} messages`} behind`,
  webhookDead: (origin: string, dead: string) =>
    `The hub gave up ${dead === '1' ? '1 message' : `${dead} messages`} to webhook ${origin}`,
  webhookText: (error: string, attempts: number) =>
    `${error}, tried ${plural(attempts, 'time', 'times')}.`,
  nextAttempt: 'next attempt',
  openWebhook: 'Open webhook',
  refusalsTitle: (count: number) =>
    `${plural(count, 'request was', 'requests were')} refused in the last hour`,
  refusalsText: 'Wrong or ended admin tokens, or roles that are too small.',
  openLog: 'Open the log',
  rollouts: 'Rollouts',
  all: 'All',
  noRollout: 'No rollout is under way.',
  wavesOf: (wave: number, waves: number) => `wave ${wave} of ${waves}`,
  done: 'Done',
  underWay: 'Under way',
  failed: 'Failed',
  frozenUntil: (time: string, why: string) => `Rollouts are held until ${time}: ${why}`,
  kinds: {
    load: 'Cargo',
    rotation: 'Renewal of identities',
    roots: 'Trust roots',
    update: 'Agent update',
  },
  roots: 'Trust roots',
  rootsSet: (numero: number) => `set ${numero}`,
  outOf: (total: string) => `of ${total}`,
  ofHosts: (done: string, total: string) => `${done} of ${total}`,
  now: 'Now',
  routineHidden: 'without routine',
  log: 'Log',
  hubHour: 'Hub, last hour',
  hubMore: 'Hubs and log keeping',
  subsystems: { store: 'Store', ca: 'CA', certificate: 'Own certificate', audit: 'Audit log' },
  requests: 'Requests',
  aSecond: 'a second',
  within: '99 of 100 within',
  caWithin: 'CA answers within',
  connected: 'Connected hosts',
  busy: 'Event loop busy',
  firstMinute: 'The first figures come a minute after the start of the hub.',
}
