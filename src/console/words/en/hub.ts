// The hubs, and where the log is kept.

import { plural } from './plural.ts'

export const hub = {
  title: 'Hubs and log keeping',
  hubs: 'Hubs of this vault',
  oneHub: 'One hub has this vault',
  oneHubHint:
    'Others can share it in a PostgreSQL, or a standby on a second machine keeps a copy of it. Each machine says itself how far its standby is:',
  machine: 'Machine',
  unknownMachine: 'not known',
  thisOne: 'answers here',
  state: 'State',
  states: { running: 'Running', silent: 'Silent', stopped: 'Stopped' },
  behind: 'Behind',
  notBehind: 'has everything',
  records: (count: string) => (count === '1' ? '1 record' : `${count} records`),
  clock: 'Clock',
  seconds: (seconds: string) => `${seconds} s`,
  leases: 'Does for all',
  version: 'Version',
  heard: 'Last heard of',
  gone: 'When a machine is gone for good, another hub takes it out:',
  checkpoints: 'Checkpoints of the log',
  noneSigned: 'No checkpoint yet',
  noneSignedHint: 'The hub signs the first one within a second of its start.',
  newest: 'Newest',
  coversAll: (entries: number) => `covers the whole log, ${plural(entries, 'entry', 'entries')}`,
  covers: (entries: string, all: number) =>
    `covers ${entries} of ${plural(all, 'entry', 'entries')}`,
  places: 'Places',
  unknownPlaces: 'not known: no hub runs that could look',
  inVault: 'In the vault',
  outside: 'Outside of it',
  outsideHint:
    'Who puts an earlier vault back puts its checkpoint back with it. Name a directory of another machine in the hub’s settings:',
  nowhere: 'Not kept',
  placeWhole: 'Whole log',
  notYet: 'not yet since the start',
  placeBehind: 'Not the whole log',
  logKey: 'Key of the log',
  keepOne:
    'Keep one elsewhere now and then: it shows whether anybody changed an entry that it covers.',
  witnesses: 'Witnesses',
  inLog: 'In the log',
  noWitness: 'Nobody else has signed the log',
  noWitnessHint:
    'A witness vouches that everybody is shown the same log. Send it the request, and have its answer kept:',
  witness: 'Witness',
  signedAt: 'Signed',
  cosignedOf: (witnesses: number, entries: string) =>
    `${witnesses === 1 ? 'It' : 'They'} signed the log up to entry ${entries}.`,
  since: (count: string) => (count === '1' ? '1 entry is newer.' : `${count} entries are newer.`),
  hubChecked: (witnesses: number) =>
    `The hub checked ${witnesses === 1 ? 'its signature' : 'their signatures'}. For the next one:`,
  segments: 'Archived entries',
  directory: 'Directory',
  disk: 'Disk of the vault',
  free: (size: string) => `${size} free`,
  vaultHas: (size: string) => `the vault has ${size}`,
  grows: (size: string) => `${size} more a day`,
  faulty: (count: number) =>
    count === 1 ? '1 file is missing or damaged' : `${count} files are missing or damaged`,
  faultyHint:
    'Their entries cannot be listed or checked until the files are back in the directory, from their copy.',
  entries: 'Entries',
  span: 'From, to',
  size: 'Size',
  file: 'File',
  segmentStates: { present: 'Present', missing: 'Missing', damaged: 'Damaged' },
  allInVault: 'All entries are in the vault',
  noDirectory:
    'Once SVC_LOG_ARCHIVE_DIR of the hub names a directory, entries can move into it. This moves those older than 180 days; those of the last 30 days always stay:',
  canLeave: (directory: string) =>
    `Entries can move into ${directory}. This moves those older than 180 days; those of the last 30 days always stay:`,
  moreCanLeave: 'Move those that became older than 180 days since:',
}
