// The rooms of `svc` and of its doctor, in the table of layers-rooms.ts.

import type { Room } from './layers-rooms.ts'

export const ADMIN_ROOMS: readonly Room[] = [
  {
    name: 'doctor/local',
    prefixes: ['src/doctor/local/'],
    what: 'what `svc doctor` sees by itself on the hub’s machine, without the hub',
    imports: [
      'doctor',
      'hub',
      'hub/backup',
      'hub/ca',
      'hub/facts',
      'hub/vault',
      'protocol',
      'platform',
      'pki',
    ],
  },
  {
    name: 'doctor',
    what: 'the checks of `svc doctor`: a table, what each says of facts, and the running of all; it looks at nothing itself',
    imports: ['protocol', 'platform'],
  },
  {
    name: 'admin/terminal',
    what: 'tables, progress, questions',
    imports: ['protocol', 'platform'],
  },
  {
    name: 'admin/sealed',
    what: 'whom to seal for, and sealing',
    imports: ['admin/terminal', 'protocol', 'platform', 'sealing'],
  },
  {
    name: 'admin/wiring',
    prefixes: [
      'src/admin/main.ts',
      'src/admin/run-svc.ts',
      'src/admin/doors/open-vault.ts',
      'src/admin/doors/use-backup.ts',
      'src/admin/doors/change-keys.ts',
      'src/admin/doors/open-scene.ts',
      'src/admin/doors/open-remote-scene.ts',
    ],
    what: 'the wiring of `svc`: a hub’s socket, or the vault itself',
    imports: [
      'admin/doors',
      'admin/commands',
      'admin/terminal',
      'admin/sealed',
      'doctor',
      'doctor/local',
      'hub',
      'hub/backup',
      'hub/service/admin',
      'hub/store',
      'hub/vault',
      'backup',
      'sealing',
      'protocol',
      'platform',
    ],
  },
  {
    name: 'admin/doors',
    what: 'the ways to a hub: socket, admin port',
    imports: ['admin/terminal', 'protocol', 'platform'],
    types: ['backup', 'doctor'],
  },
  {
    name: 'admin/commands',
    what: 'the commands of `svc`, one a file',
    imports: [
      'admin/doors',
      'admin/terminal',
      'admin/sealed',
      'completion',
      'backup',
      'doctor',
      'protocol',
      'platform',
      'audit',
      'sealing',
    ],
  },
]
