// Sealing a file in the browser.

import { plural } from './plural.ts'

export const seal = {
  title: 'Seal a file',
  above: 'Cargo',
  off: 'This page does not seal',
  offHint:
    'The hub served it, and the hub is who shall not read the file: a hub in wrong hands could send a page that tells the secret. Seal by svc, or open the console from your own machine:',
  intro: (hub: string) =>
    `The file is sealed in this browser, and only the sealed file goes to ${hub}. This page came from svc on this machine.`,
  byHub:
    'This page came from the hub: a person who controls the hub could read what you type here. svc console is the way that excludes it.',
  byHubHint:
    'The file is sealed in this browser, and only the sealed file goes to the hub, as long as the hub sends the page that it should.',
  name: 'Name',
  nameHint: 'The file on the hosts: out/<name>',
  agents: 'Hosts',
  agentsHint: 'Hostnames, with spaces between them',
  role: 'Role',
  roleHint: 'Every host of this role',
  where: 'Selector',
  whereHint: 'In place of both, such as env=prod: also hosts that come to match later',
  next: (cargo: string, version: number) =>
    `Version ${version} of ${cargo}, for the hosts that have it.`,
  secret: 'Secret',
  secretHint: 'As it is typed: no line end is added',
  file: 'Or a file',
  pins: 'Recipients that you know (optional)',
  pinsHint:
    'recipients.json: that of svc, or the one that this page gave you. It is read in this page, and sent nowhere. Without it you type the fingerprint of each host.',
  pinsInvalid:
    'The file of recipients is damaged, too large, or of a newer version: choose the recipients.json of svc, or leave it out.',
  savePins: 'Save recipients.json',
  savePinsHint:
    'This page keeps no recipients. Save them, and choose that file the next time: then only new and changed ones are asked for.',
  submit: 'Seal and deliver',
  judging: 'Asking for whom…',
  sealing: (done: number, total: number) =>
    `Sealing for ${done} of ${plural(total, 'recipient', 'recipients')}…`,
  sending: 'Sending the sealed file…',
  noName: 'Give it a name.',
  noWhom: 'Say for which hosts, role or selector.',
  bothWhom: 'A selector stands alone: leave hosts and role empty.',
  noSecret: 'Type the secret, or choose a file.',
  twoSecrets: 'Type the secret or choose a file, not both.',
  tooLarge: (bytes: string, most: string) => `It has ${bytes} bytes; a sealed file holds ${most}.`,
  sealedTooLarge: (recipients: number, bytes: string, most: string) =>
    `Sealed for ${plural(recipients, 'recipient', 'recipients')} it has ${bytes} bytes, and the hub takes ${most}: make several, each for some of the hosts.`,
  sendAgain: 'Send the sealed file again',
  thisFile: 'the file that you seal',
  nobody: 'There is nobody to seal for.',
  tooMany: (recipients: number) =>
    `A hub takes fewer than ${recipients} recipients of one file: make several, each for some of the hosts.`,
  unasked: (host: string) =>
    `The hub names host ${host}, which you have not named. Nothing was sealed; do not trust the hub before you know why.`,
  missing: (host: string) =>
    `The hub leaves out ${host}, which you have named. Nothing was sealed; do not trust the hub before you know why.`,
  absent: (hosts: string) => `These hosts have told the hub no recipient to seal for: ${hosts}`,
  nameless: (hosts: string) => `The hub names hosts whose names are no hostnames: ${hosts}`,
  malformed: (hosts: string) => `What the hub names is no recipient age1pq1…: ${hosts}`,
  unmatched: (fingerprints: string) =>
    `The hub names nobody any more whose recipient is ${fingerprints}: look again.`,
  shared: (fingerprint: string, hosts: string) =>
    `The hub names one recipient for several: ${hosts} (${fingerprint}). Each host has its own.`,
  strangers: 'Who nobody has vouched for yet',
  strangersHint:
    'The hub says that these recipients are the hosts’. Run svc-agent identity on each host, and type here the fingerprint that the host prints. If it differs from the one shown, seal nothing, and do not trust the hub before you know why.',
  escrow: 'escrow',
  newHere: 'new here',
  was: (fingerprint: string) => `it was ${fingerprint}`,
  typed: (hostname: string) => `Fingerprint that ${hostname} prints`,
  differs: 'That is not the fingerprint that the hub says.',
  done: (cargo: string) => `Sealed and delivered: load ${cargo}`,
  doneHint: 'The form is empty again; nothing of the secret is kept.',
  sealedFor: 'Sealed for',
  leftOut: (hosts: string) => `These wait, since they have told no recipient: ${hosts}`,
  notKept: 'It is delivered, but svc could not note the recipients: it asks again next time.',
  host: 'Host',
  fingerprint: 'Fingerprint',
}
