import assert from 'node:assert/strict'
import { type Fault, testFaults } from '../../test/support/doctor-faults.ts'
import { type ChangedFacts, SILENT_HUB as SILENT, SOUND } from '../../test/support/sound-scene.ts'

const { hub, backups } = SOUND
assert.ok(backups !== undefined)
const { status, examination } = hub
assert.ok(status !== undefined && examination !== undefined)
const { backlog, checkpoints } = examination
const [webhook] = backlog.webhooks
assert.ok(webhook !== undefined && checkpoints !== null)

function withBacklog(changed: Partial<typeof backlog>): ChangedFacts {
  return { hub: { ...hub, examination: { ...examination!, backlog: { ...backlog, ...changed } } } }
}

function withStatus(changed: Partial<NonNullable<typeof status>>): ChangedFacts {
  return { hub: { ...hub, status: { ...status!, ...changed } } }
}

function withExamined(changed: object): ChangedFacts {
  return { hub: { ...hub, examination: { ...examination!, ...changed } } }
}

function withCheckpoints(changed: object): ChangedFacts {
  return {
    hub: { ...hub, examination: { ...examination!, checkpoints: { ...checkpoints!, ...changed } } },
  }
}

const FAULTS: readonly Fault[] = [
  [
    'a hub that is down',
    { hub: SILENT, listeners: [] },
    'hub',
    'error',
    /^no hub answers at \/var\/lib\/svc\/admin.sock; systemd: active$/,
  ],
  [
    'a hub that waits',
    { hub: { ...SILENT, waitsFor: ['ca: not called'] } },
    'hub',
    'error',
    /^the hub waits: ca: not called$/,
  ],
  [
    'a hub that hangs',
    { hub: { ...SILENT, failure: { reason: 'the hub did not answer in time', kind: 'silent' } } },
    'hub',
    'error',
    /did not answer in time$/,
  ],
  [
    'a hub that this user may not ask',
    { hub: { ...SILENT, failure: { reason: 'admin.sock: permission denied', kind: 'denied' } } },
    'hub',
    'unknown',
    /^not known: admin.sock: permission denied$/,
  ],
  [
    'a part that is not ready',
    withStatus({
      hub: {
        ready: false,
        remarks: [],
        subsystems: [
          { name: 'ca', ready: false, reason: 'timeout', since: '2026-11-23T11:00:00.000Z' },
        ],
      },
    }),
    'hub',
    'error',
    /^the hub is not ready: ca: timeout, since 2026-11-23T11/,
  ],
  [
    'a hub of another version',
    withStatus({ version: '0.4.9' }),
    'hub',
    'warning',
    /^the hub is version 0.4.9, and this svc is 0.5.0$/,
  ],
  [
    'a hub that is too old',
    { hub: { ...hub, examination: undefined } },
    'hub',
    'warning',
    /^the hub \(0.5.0\) is older than this svc \(0.5.0\)$/,
  ],
  [
    'a log that does not fit',
    withStatus({
      hub: {
        ready: false,
        remarks: [],
        subsystems: [
          { name: 'audit', ready: false, reason: 'entry 812 does not follow 811', since: null },
        ],
      },
    }),
    'log',
    'error',
    /^entry 812 does not follow/,
  ],
  [
    'a checkpoint that is old',
    withCheckpoints({ vault_at: '2026-11-23T11:50:00.000Z' }),
    'checkpoint',
    'warning',
    /^for 10m no checkpoint in the vault covers the whole log$/,
  ],
  [
    'a checkpoint that is not kept outside',
    withCheckpoints({ outside_at: null }),
    'checkpoint',
    'warning',
    /^for 1d no checkpoint outside the vault covers/,
  ],
  [
    'a directory of checkpoints that is gone',
    {
      checkpointDirectory: {
        path: '/mnt/safe',
        failure: 'no such file or directory',
        isBesideVault: false,
      },
    },
    'checkpoint',
    'error',
    /^SVC_CHECKPOINT_PATH: \/mnt\/safe: no such file or directory$/,
  ],
  [
    'a directory of checkpoints beside the vault',
    { checkpointDirectory: { path: '/var/lib/x', failure: undefined, isBesideVault: true } },
    'checkpoint',
    'warning',
    /is on the file system of the vault$/,
  ],
  [
    'a backup that is old',
    withExamined({
      backups: { interval_seconds: 3600, last_at: '2026-11-23T09:00:00.000Z', up_seconds: 9 },
    }),
    'backup',
    'warning',
    /^the newest backup was made 3h ago, and one is to be made every 1h$/,
  ],
  [
    'no backup',
    withExamined({ backups: { interval_seconds: 3600, last_at: null, up_seconds: 4000 } }),
    'backup',
    'warning',
    /^the hub runs for 1h 6m, and there is no backup$/,
  ],
  [
    'an old backup of a hub that is down',
    {
      hub: SILENT,
      listeners: [],
      backups: { ...backups, lastAt: new Date('2026-11-20T02:00:00.000Z') },
    },
    'backup',
    'warning',
    /^the newest backup was made 3d ago/,
  ],
  [
    'a directory of backups that is gone',
    { backups: { ...backups, failure: 'no such file or directory' } },
    'backup',
    'error',
    /^SVC_BACKUP_DIR: \/mnt\/backup: no such file or directory$/,
  ],
  [
    'backups beside the vault',
    { backups: { ...backups, isBesideVault: true } },
    'backup',
    'warning',
    /is on the file system of the vault$/,
  ],
  [
    'segments that are not there',
    withExamined({
      segments: {
        directory: '/archive',
        segments: 9,
        missing: 1,
        damaged: 1,
        faulty: [
          { file: 'a.svcsegment', first: 1, last: 512, state: 'missing' },
          { file: 'b.svcsegment', first: 513, last: 768, state: 'damaged' },
        ],
      },
    }),
    'archive',
    'error',
    /^of 9 segments of the log 1 missing and 1 damaged: a\.svcsegment \(events 1 to 512, missing\), b\.svcsegment \(events 513 to 768, damaged\)$/,
  ],
  [
    'late agents',
    {
      hub: {
        ...hub,
        status: { ...status, agentes: { registered: 3, atrasado: 1, revoked: 0 } },
        examination: {
          ...examination,
          backlog: {
            ...backlog,
            late: [{ hostname: 'web-1.example.org', not_after: '2026-11-23T11:00:00.000Z' }],
          },
        },
      },
    },
    'agents',
    'warning',
    /^1 of 3 agents are silent, or late with a certificate: web-1.example.org$/,
  ],
  [
    'failed deliveries',
    withStatus({ entregas: { ...status.entregas, falhou: 2 } }),
    'deliveries',
    'warning',
    /^2 deliveries have failed$/,
  ],
  [
    'targets that were taken back',
    withStatus({ entregas: { ...status.entregas, revertida: 1 } }),
    'deliveries',
    'warning',
    /^of 1 deliveries a target was taken back on the host$/,
  ],
  [
    'a rollout that is frozen',
    withStatus({
      rollouts: [
        {
          id: 'r',
          kind: 'load',
          nome: 'site',
          state: 'frozen',
          wave: 2,
          waves: 4,
          reason: 'of 5 hosts 1 failed',
        },
        { id: 's', kind: 'load', nome: 'db', state: 'paused', wave: 1, waves: 2, reason: null },
      ],
    }),
    'rollouts',
    'warning',
    /^the rollout of load site is frozen in wave 2 of 4: of 5 hosts 1 failed$/,
  ],
  [
    'a rotation that is frozen',
    withStatus({
      rollouts: [
        {
          id: 'r',
          kind: 'rotation',
          nome: null,
          state: 'frozen',
          wave: 1,
          waves: 2,
          reason: 'late',
        },
      ],
    }),
    'rollouts',
    'warning',
    /^the rotation is frozen in wave 1 of 2: late$/,
  ],
  [
    'a webhook that fails',
    withBacklog({ webhooks: [{ ...webhook, error: 'answered 500' }] }),
    'webhooks',
    'warning',
    /^2 messages wait for webhook w1 \(https:\/\/alerts.example.org\), and fails: answered 500$/,
  ],
  [
    'a webhook that is behind',
    withBacklog({ webhooks: [{ ...webhook, waiting: 1000 }] }),
    'webhooks',
    'warning',
    /^1000 messages wait/,
  ],
  [
    'messages that were given up',
    withBacklog({ webhooks: [{ ...webhook, given_up: 7 }] }),
    'webhooks',
    'warning',
    /^the hub gave up 7 messages/,
  ],
  [
    'a webhook that is disabled',
    withBacklog({ webhooks: [{ ...webhook, disabled: true }] }),
    'webhooks',
    'warning',
    /is disabled$/,
  ],
  [
    'an OpenID provider that is away',
    withExamined({
      openid: {
        issuer: 'https://sso.example.org/',
        reason: 'sso.example.org: did not answer in time',
        is_console_reached: true,
      },
    }),
    'openid',
    'warning',
    /^https:\/\/sso\.example\.org\/: sso\.example\.org: did not answer in time$/,
  ],
  [
    'an OpenID provider that cannot send anybody back',
    withExamined({
      openid: { issuer: 'https://sso.example.org/', reason: null, is_console_reached: false },
    }),
    'openid',
    'warning',
    /^only svc login can use the OpenID provider/,
  ],
  [
    'a revocation that waits',
    withBacklog({
      revocations: {
        waiting: 2,
        refused: 0,
        oldest_at: '2026-11-23T11:00:00.000Z',
        reason: 'timeout',
      },
    }),
    'revocations',
    'warning',
    /^2 certificates wait to be revoked at the CA, the first for 1h: timeout$/,
  ],
  [
    'a revocation that was refused',
    withBacklog({ revocations: { waiting: 0, refused: 1, oldest_at: null, reason: 'forbidden' } }),
    'revocations',
    'warning',
    /^the CA refused to revoke 1 certificates: forbidden$/,
  ],
]

testFaults(
  '[DOC-6] [DOC-16] [DOC-17] [DOC-22] [DOC-25] [DOC-26] svc doctor finds, of the hub and what is in it,',
  FAULTS,
)
