// The roots that are trusted.

import { plural } from './plural.ts'

export const roots = {
  title: 'Trust roots',
  set: (numero: number, epoca: number) => `Set ${numero} of epoch ${epoca}`,
  since: 'in force since',
  root: 'Root',
  ends: 'Ends',
  invalid: 'Not valid',
  certificates: 'Certificates that lead to it',
  hubsOwn: 'The hub’s own',
  update: 'Read the root file again',
  updateAbout: 'Put the root file in force',
  forceAbout: 'Put the root file in force, and lose the hosts that need a root that goes',
  updateButton: 'Put in force',
  updateText:
    'The roots of the root file on the hub become the next set. Agents take it with their next poll.',
  force: 'Also when agents still need a root that goes: the hub loses them',
  fileDiffers: 'The root file on the hub has other roots than these.',
  signed: 'A trust key signs the sets: svc puts the next one in force, with its signature.',
  needs: 'What still needs the old root?',
  noOldRoot:
    'There is no old root: the certificate of the hub leads to the only one there is, or no hub runs.',
  notNeeded: 'No certificate in use leads to it.',
  needed: (count: string) =>
    count === '1'
      ? '1 certificate in use leads to it.'
      : `${count} certificates in use lead to it.`,
  unknown: (count: string) =>
    `Nobody noted the root of ${plural(count, 'certificate', 'certificates')} in use.`,
  noHosts: 'No host has enrolled yet: the first one takes this set with its identity.',
  allAdopted: (count: string) =>
    count === '1'
      ? 'The one host has said that it trusts exactly this set.'
      : `All ${count} hosts have said that they trust exactly this set.`,
  pending: (count: string, all: string) =>
    `${count} of ${plural(all, 'host has', count === '1' ? 'hosts has' : 'hosts have')} not said that ${count === '1' ? 'it trusts' : 'they trust'} exactly this set:`,
  host: 'Host',
  trusts: 'Trusts',
  why: 'Why',
  neverSaid: 'never said',
  number: (numero: number) => `set ${numero}`,
  pinned: 'A file on the host says which roots to trust',
}

export const revocations = {
  title: 'CA revocations',
  about:
    'The hub itself refuses all of these already, and each leaves this list when it expires. A CA without a database cannot revoke: give it one, or wait.',
  list: 'Revoked here, and not at the CA',
  none: 'The CA has revoked whatever the hub has revoked.',
  host: 'Host',
  state: 'State',
  states: { waiting: 'Waiting', refused: 'Refused' },
  serial: 'Serial',
  ends: 'Expires',
  reason: 'Why',
}

export const certificates = {
  title: 'Certificates',
  none: 'What a host lives on is here once it has enrolled.',
  host: 'Host',
  what: 'What',
  identity: 'Identity',
  state: 'State',
  anyState: 'Any state',
  states: { fresh: 'Fresh', renewing: 'Renewing', late: 'Late', expired: 'Expired' },
  ends: 'Ends',
  serial: 'Serial',
  byHost: 'Hostname or id',
  endsBefore: (at: string) => `ends before ${at}`,
  asked: 'Asked for',
}
