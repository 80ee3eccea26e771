// The audit log: its check, its list, one entry, and its print view.

import { plural } from './plural.ts'

export const audit = {
  title: 'Audit log',
  evidenceTitle: 'Evidence',

  verdict: {
    asking: 'Asking the hub for its log',
    empty: 'The log has no entries yet',
    waiting: (left: string) => `${plural(left, 'entry is', 'entries are')} not checked here`,
    waitingWhy:
      'That is more than is checked unasked. It costs this browser some time, and the hub the reading of its log.',
    running: (left: string) => `Checking, ${left} to go`,
    stopped: (left: string) =>
      `Stopped, ${plural(left, 'entry is', 'entries are')} not checked here`,
    failed: 'The check could not go on',
    good: (entries: string) => `No break in ${plural(entries, 'entry', 'entries')}`,
    badEntry: (seq: string) => `Entry ${seq} was changed`,
    badEntryWhy:
      'What the hub shows of this entry is not what its hash was computed from. From here on nothing in the log can be trusted: compare it with a backup.',
    showEntry: 'Show the entry',
    reason: 'What is wrong',
    rewritten: (at: string) => `The log was rewritten: the anchor of ${at} is not in it`,
    rewrittenWhy: (seq: string, has: string) =>
      `Entry ${seq} had another hash when this browser kept it, or is gone; the log has ${plural(has, 'entry', 'entries')} now. A log that goes on from what it was never changes that.`,
    tree: 'The log is not the one that its checkpoint was signed for',
    treeWhy: (size: string) =>
      `Each entry of ${size} fits the one before it, and together they are not what the hub signed: something was changed after that, or before the anchor.`,
    key: "The hub's key changed",
    keyWhy:
      'The log is signed with another key than the anchor of this browser was. A new vault has another one, and so has a log that somebody put in its place: ask who did that.',
    keyWas: 'Before',
    keyIs: 'Now',
    signature: 'The checkpoint is not signed with the key that the hub names',
    signatureWhy: 'A hub that is what it says it is signs its own log.',
  },

  computedNow: (count: string, speed: string) =>
    `${count === '1' ? '1 entry was' : `${count} entries were`} computed just now in this browser${speed}, and each new one as it arrives.`,
  computedIn: (time: string, rate: string) => `, in ${time} (${rate} a second)`,
  computedBefore: (count: string, at: string) =>
    `${count === '1' ? 'The one before was' : `The ${count} before were`} last computed at ${at}.`,
  progress: (count: string, total: string, rate: string) =>
    `${count} of ${total}, ${plural(rate, 'entry', 'entries')} a second`,
  noneNew: (at: string) => `No entry is newer than the anchor of ${at}.`,
  anchorLimit:
    'An anchor shows that the log goes on from it. It does not show that older payloads are still what they were: only checking all again does.',

  same: 'Same log as last time.',
  sameWhy: (seq: string, at: string) =>
    `Entry ${seq} still has the hash that this browser kept at ${at}.`,
  kept: 'Anchor kept.',
  keptWhy: (seq: string) =>
    `This browser has entry ${seq} and its hash now: next time the log has to go on from there.`,
  noAnchor: 'No anchor yet.',
  noAnchorWhy: 'The first whole check keeps one in this browser.',
  signed: 'Signed.',
  signedWhy: (size: string) =>
    `The tree over the first ${size === '1' ? 'entry' : `${size} entries`} is the one that the hub signed.`,
  notSigned: 'No signed checkpoint was compared yet.',
  cannotVerify:
    'This browser cannot check Ed25519 signatures: tree and checkpoint are not compared.',
  head: 'Head',
  copyHead: 'Copy the head',
  trust: 'The code that checks came from this hub, so it cannot convict the hub.',
  trustLink: 'Check without trusting it',
  trustTitle: 'Check without trusting the hub',
  trustWhy:
    'A hub in wrong hands could send a page that says what it likes. Programs that came from elsewhere check the same log:',
  trustVerify: 'The whole log, by svc from its own package, against a checkpoint that you keep:',
  trustExport: 'A file for somebody who has neither vault nor hub:',
  trustEvidence:
    'What the log proves of each certificate, for an auditor; tools/verify-evidence.py checks it:',
  trustConsole:
    'The key and a checkpoint, to keep in another place than this hub. Webhooks carry hash_atual too: who receives them has a copy of the chain.',
  checkAll: 'Check all again',
  check: 'Check',
  goOn: 'Go on',
  stop: 'Stop',
  keepAnchor: 'Keep as anchor',
  anchorKept: 'Kept as anchor',
  dropAnchor: 'Drop the anchor, check all',

  days: {
    title: 'Entries by day in UTC, and whether this browser computed them',
    day: 'Day',
    entries: 'Entries',
    state: 'Computed',
    states: { now: 'computed now', earlier: 'computed earlier', not: 'not computed here' },
    anchor: 'anchor',
    unknown: 'not counted',
  },

  chain: (seq: string) => `How entry ${seq} hangs in the chain`,
  chainFormula: 'hash = SHA-256(hash before · payload · time)',
  chainTable: 'The entries around it, with their hashes',
  before: 'before',
  hash: 'hash',
  hashTitle: 'Hash',
  joined: 'the hash of the entry before',
  notJoined: 'not the hash of the entry before',

  allButRoutine: 'All but routine',
  everything: 'Everything',
  people: 'People',
  hubActs: 'Hub',
  hosts: 'Hosts',
  group: 'Whose entries',
  about: 'About a host or cargo',
  aboutHint: 'Host or cargo…',
  who: 'By whom',
  whoHint: 'admin, hub, agent or token:name',
  types: 'Types, as on the wire, with commas',
  from: 'From',
  until: 'Until, and before it',
  filter: 'Filter',
  apply: 'Apply',
  removeFilter: (filter: string) => `Remove the filter ${filter}`,
  chips: {
    about: (value: string) => `about ${value}`,
    who: (value: string) => `by ${value}`,
    type: (value: string) => value,
    from: (value: string) => `from ${value}`,
    until: (value: string) => `until ${value}`,
  },
  evidence: 'Evidence',

  entry: 'Entry',
  time: 'Time',
  what: 'What',
  details: 'Details',
  empty:
    'Everything that the hub does, and what agents report, is an entry here. The first one comes with the first token:',
  range: (first: string, last: string) => `Entries ${first}–${last}`,
  hidden: (count: string) => `routine: ${count} hidden here`,
  missing: (count: string) =>
    `${plural(count, 'entry is', 'entries are')} in segments that the hub cannot read`,
  arrivedMany: (count: number) => `${count} or more new`,
  keysHint: 'move',
  openHint: 'open',

  panel: (seq: string) => `Entry ${seq}`,
  noSuch: (seq: string) => `There is no entry ${seq}`,
  noSuchHint: 'The log may be shorter, or the address may have a typing error.',
  close: 'Close the entry',
  byWhom: 'Who',
  aboutWhat: 'About',
  delivery: 'Delivery',
  request: 'Request',
  changedSince: 'Changed since entry',
  unchanged: 'Nothing differs but who did it and when.',
  nothingBefore: 'There is no earlier entry on this among the last 50 of its kind.',
  payload: 'Payload, as it is stored and hashed',
  copyPayload: 'Copy the payload',
  equal: 'computed here, equal',
  other: 'computed here, another one',
  computing: 'computing',
  copyHash: 'Copy the hash',

  print: {
    print: 'Print',
    back: 'Back to the log',
    who: 'Asked by',
    whoAs: (name: string, role: string) => `${name}, as ${role}`,
    at: 'Answered at',
    hub: 'Hub',
    version: (version: string) => `version ${version}`,
    key: 'Key of the log',
    head: 'Head of the log',
    headOf: (seq: string, at: string) => `entry ${seq}, ${at}`,
    checkpoint: 'Newest checkpoint, as it was signed',
    anchor: 'Anchor of this browser',
    anchorOf: (seq: string, at: string) => `entry ${seq}, kept ${at}`,
    none: 'none',
    check: 'Check in this browser',
    entries: (count: string) => (count === '1' ? '1 entry' : `${count} entries, newest first`),
    cut: (count: string) =>
      `These are the newest ${count} that match; there are more. Narrow the question, or use svc evidence.`,
    nothing: 'No entry matches.',
    trust:
      'The hub served the code that made this page. To prove the same to somebody who does not trust the hub:',
    questionAll: 'All entries',
    questionRoutine: 'without what hosts do by themselves while all is well',
    questionWithRoutine: 'with routine',
    questionAbout: (value: string) => `about ${value}`,
    questionBy: (value: string) => `by ${value}`,
    questionPeople: 'by people',
    questionHosts: 'that hosts sent',
    questionTypes: (value: string) => `of the types ${value}`,
    questionFrom: (value: string) => `at or after ${value}`,
    questionUntil: (value: string) => `before ${value}`,
  },
}
