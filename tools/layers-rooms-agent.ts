// The rooms of `svc-agent`, in the table of layers-rooms.ts.

import type { Room } from './layers-rooms.ts'

const SIGNED_GROUND = ['protocol', 'platform', 'pki', 'trust']

const AGENT = [
  'agent/settings',
  'agent/files',
  'agent/hub',
  'agent/witness',
  'agent/tpm',
  'agent/identity',
  'agent/delivery',
  'agent/targets',
  'agent/adopt',
  'agent/stream',
  'agent/control',
  'agent/update',
  'agent/reporting',
  'agent/round',
]

export const AGENT_ROOMS: readonly Room[] = [
  {
    name: 'agent/settings',
    what: 'what the environment says, and where the agent keeps what',
    imports: ['protocol', 'platform', 'trust'],
  },
  {
    name: 'agent/files',
    what: 'versioned files, switched by one rename; trusted paths; acting as another user',
    imports: ['platform'],
  },
  {
    name: 'agent/hub',
    what: 'the hub as the agent sees it: requests, stream, its clock, when to try again, the outbox',
    imports: ['agent/files', 'protocol', 'platform', 'pki'],
  },
  {
    name: 'agent/witness',
    what: 'what the agent has seen of the hub’s audit log, and whether the log goes on from it',
    imports: ['agent/hub', 'audit', 'platform', 'protocol'],
    types: ['agent/settings'],
  },
  {
    name: 'agent/tpm',
    what: 'the TPM of this host, by the commands of tpm2-tools',
    imports: ['tpm', 'platform', 'pki'],
  },
  {
    name: 'agent/identity',
    what: 'the agent’s identity on disk and in use: enrolled, renewed, recovered, with the roots that it trusts',
    imports: [
      'agent/settings',
      'agent/files',
      'agent/hub',
      'agent/witness',
      'agent/tpm',
      'tpm',
      'sealing',
      'ssh',
      ...SIGNED_GROUND,
    ],
  },
  {
    name: 'agent/delivery',
    what: 'what the hub delivers: planned, obtained, installed, reported, told to hooks',
    imports: [
      'agent/files',
      'agent/hub',
      'agent/identity',
      'sealing',
      'protocol',
      'platform',
      'pki',
    ],
  },
  {
    name: 'agent/targets',
    what: 'where deliveries go on this host, as `targets.d` says',
    imports: ['agent/files', 'agent/identity', 'agent/delivery', 'protocol', 'platform', 'pki'],
    types: ['agent/hub'],
  },
  {
    name: 'agent/adopt',
    what: 'certificates that services of the host read: found, taken over by targets, given back',
    imports: ['agent/files', 'agent/delivery', 'agent/targets', 'protocol', 'platform', 'pki'],
  },
  {
    name: 'agent/stream',
    what: 'the hub’s stream: it wakes the loop, and asks for a rotation',
    imports: ['agent/hub', 'platform'],
  },
  {
    name: 'agent/control',
    what: 'one agent a data directory: its lock, and its socket',
    imports: ['agent/targets', 'platform'],
  },
  {
    name: 'agent/update',
    what: 'a newer agent: announced by the hub, fetched, verified, installed',
    imports: ['agent/settings', 'agent/files', 'agent/control', 'protocol', 'platform', 'trust'],
    types: ['agent/hub'],
  },
  {
    name: 'agent/reporting',
    what: 'status, metrics and readiness',
    imports: [
      'agent/witness',
      'agent/identity',
      'agent/delivery',
      'agent/update',
      'protocol',
      'platform',
    ],
    types: ['agent/settings', 'agent/hub', 'agent/stream'],
  },
  {
    name: 'agent/round',
    what: 'one round of the agent, and the loop of rounds',
    imports: [
      'agent/files',
      'agent/hub',
      'agent/witness',
      'agent/identity',
      'agent/delivery',
      'agent/targets',
      'agent/update',
      'platform',
    ],
    types: ['agent/reporting'],
  },
  {
    name: 'agent/commands',
    what: 'the commands of `svc-agent`',
    imports: [...AGENT, 'tpm', 'platform/pure', ...SIGNED_GROUND],
  },
  {
    name: 'agent',
    what: 'the command line of `svc-agent`, which loads one command',
    imports: ['agent/commands', 'agent/settings', 'completion', 'platform'],
  },
]
