// Every command of `svc` that a screen shows, in the words of the wire; a screen says them in the language that was chosen (Command).

import type { AdminRequest } from '../api/operations.ts'
import { describeCommand } from '../parts/describe-command.ts'

const CREATE_RULE =
  "svc join-rule create racks --pattern 'rack-*.example.org' --role web --max-hosts 20"

type Filter<Name extends 'listAgents' | 'listCertificates' | 'findDeliveries'> = Omit<
  AdminRequest<Name>,
  'after' | 'limit'
>

export interface LogFilter {
  readonly about?: string | undefined
  readonly by?: string | undefined
  readonly actor?: string | undefined
  readonly tipo?: readonly string[]
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly 'no-routine'?: boolean
}

export type ShownPolicy =
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'where'; readonly nome: string }

function aboutPolicy(verb: string, policy: ShownPolicy, options = {}): string {
  return policy.kind === 'role'
    ? describeCommand(['svc', 'politica', verb, policy.role], options)
    : describeCommand(['svc', 'politica', verb], { nome: policy.nome, ...options })
}

export const svc = {
  status: 'svc status',
  doctor: 'svc doctor',
  signInByLink: 'svc console link --role viewer',
  serveConsole: (hub: string) => `svc --hub ${hub} --token-file ~/.svc-token console`,

  listHosts: ({ q, role, where, estado, sort }: Filter<'listAgents'>) =>
    describeCommand(['svc', 'agente', 'list'], { q, role, where, estado, sort }),
  showHost: (hostname: string) => describeCommand(['svc', 'agente', 'show', hostname]),
  revokeHost: (hostname: string) => describeCommand(['svc', 'agente', 'revoke', hostname]),
  labelHost: (
    hostname: string,
    {
      set,
      remove,
    }: { readonly set: Readonly<Record<string, string>>; readonly remove: readonly string[] },
  ) =>
    describeCommand([
      'svc',
      'agente',
      'label',
      hostname,
      ...Object.entries(set).map(([key, value]) => `${key}=${value}`),
      ...remove.map((key) => `${key}-`),
    ]),
  listRevocations: 'svc agente revocations',
  rotateAll: 'svc agente rotate --all --waves 1,10%,100%',
  updateAll: 'svc agente update 0.5.0 --all --waves 1,10%,100%',
  startRollout: (
    what: 'rotate' | 'update',
    {
      programa,
      where,
      waves,
      soak_seconds: soak,
      max_failed: failed,
      late_seconds: late = 0,
    }: AdminRequest<'startRotation'> & { readonly programa?: string },
  ) =>
    describeCommand(['svc', 'agente', what, ...(programa === undefined ? [] : [programa])], {
      all: where === undefined,
      where,
      waves: waves.join(','),
      soak: `${soak}s`,
      'max-failed': failed,
      'late-after': `${late}s`,
    }),

  createToken: 'svc token create --hostname web-1.example.org --role web',
  enrolAgain: (hostname: string, role: string) =>
    describeCommand(['svc', 'token', 'create'], { hostname, role, reenroll: true }),
  listRules: 'svc join-rule list',
  showRule: (name: string) => describeCommand(['svc', 'join-rule', 'show', name]),
  createRule:
    "svc join-rule create web-images --pattern 'web-*.example.org' --role web --max-hosts 40",
  createRuleByFiles: [
    `${CREATE_RULE} --ca ca.pem`,
    `${CREATE_RULE} --known-hosts known_hosts`,
    `${CREATE_RULE} --tpm-ca tpm-makers.pem`,
  ],

  listCertificates: ({
    state: estado,
    agente,
    ends_before: endsBefore,
  }: Filter<'listCertificates'>) =>
    describeCommand(['svc', 'certificado', 'list'], { estado, agente, 'ends-before': endsBefore }),

  listCargo: 'svc carga list',
  showCargo: (nome: string) => describeCommand(['svc', 'carga', 'show', nome]),
  createCertificate: 'svc carga create --tipo csr_cert --nome site --agente web-1.example.org',
  createCargo: ({
    tipo,
    nome,
    agentes: agente,
    roles: role,
    where,
    unassigned,
    sans: san,
  }: {
    readonly tipo: string
    readonly nome: string
    readonly agentes?: readonly string[]
    readonly roles?: readonly string[]
    readonly where?: string
    readonly unassigned?: boolean
    readonly sans?: readonly string[]
  }) =>
    describeCommand(['svc', 'carga', 'create'], {
      tipo,
      nome,
      agente,
      role,
      where,
      unassigned,
      san,
    }),
  createSealed:
    'svc carga create --tipo selado --nome db-password --file db-password --agente web-1.example.org',
  updateSealed: (carga: string) =>
    `${describeCommand(['svc', 'carga', 'update', carga])} --file db-password`,
  resealSecret: 'svc carga reseal db-password --file db-password',
  resealCargo: (nome: string) => `${describeCommand(['svc', 'carga', 'reseal', nome])} --file FILE`,
  showSelection: (nome: string) => describeCommand(['svc', 'carga', 'select', nome]),
  selectHosts: (nome: string, where: string | null) =>
    describeCommand(['svc', 'carga', 'select', nome], {
      where: where ?? undefined,
      'no-where': where === null,
    }),
  updateInWaves: 'svc carga update site --waves 1,10%,50%,100%',

  /** `svc` looks for no part of a hostname. */
  listDeliveries: ({ status, agente, role, where, carga, late, sort }: Filter<'findDeliveries'>) =>
    describeCommand(['svc', 'entrega', 'list'], { status, agente, role, where, carga, late, sort }),
  retryAll: 'svc entrega retry --all --dry-run',

  listRollouts: 'svc rollout list',
  aboutRollout: (id: string) =>
    ['show', 'pause', 'resume', 'undo'].map((act) => describeCommand(['svc', 'rollout', act, id])),
  showFreeze: 'svc freeze show',
  setFreeze: "svc freeze set --until 12h --why 'incident 4711'",

  listPolicies: 'svc politica list',
  showSelectors: 'svc politica selectors',
  setRolePolicy: 'svc politica set web --cert-ttl 8h',
  setSelectorPolicy: 'svc politica set --where env=prod --nome prod --cert-ttl 8h',
  aboutPolicy: (policy: ShownPolicy) => [
    aboutPolicy('show', policy),
    aboutPolicy('set', policy, { 'cert-ttl': '8h' }),
  ],

  listEntries: ({ tipo, ...filter }: LogFilter) =>
    describeCommand(['svc', 'evento', 'list'], { ...filter, tipo, limit: '200' }),
  listEntriesAbout: (hostname: string) =>
    describeCommand(['svc', 'evento', 'list'], { about: hostname }),
  listRefused: 'svc evento list --tipo admin_refused --limit 20',
  showEntry: (seq: number) => [
    `svc evento list --after ${seq - 1} --before ${seq + 1} --json`,
    `svc evento proof ${seq}`,
  ],
  verifyLog: 'svc evento list --verify --limit 1',
  keepCheckpoint: ['svc checkpoint --key > log.key', 'svc checkpoint > kept.checkpoint'],
  verifyByCheckpoint:
    'svc evento list --verify --limit 1 --key "$(cat log.key)" --checkpoint kept.checkpoint',
  verifyExport: [
    'svc evento export --out log.export',
    'svc evento verify log.export --key "$(cat log.key)" --checkpoint kept.checkpoint',
  ],
  packEvidence: 'svc evidence --from 30d --to 0d --out month.evidence',
  archiveEntries: 'svc evento archive --before 180d',
  listSegments: 'svc evento segments',
  showCheckpoint: 'svc checkpoint',
  fileCheckpoint: 'svc checkpoint >"$(date +%F).checkpoint"',
  askWitness: (kept: number) => `svc checkpoint --add-checkpoint ${kept} >request`,
  addCosigned: 'svc checkpoint --cosigned FILE --witness-key "$(cat witness.key)"',

  listHubs: 'svc hubs list',
  removeHub: (hub: string) => describeCommand(['svc', 'hubs', 'remove', hub]),
  showStandby: 'svc standby status',
  showBundle: 'svc bundle status',
  signBundle: 'svc bundle sign --help',
  listWebhooks: 'svc webhook list',
  createWebhook: 'svc webhook create --url https://alerts.example.org/cartorio',
  aboutWebhook: (id: string) =>
    ['show', 'test'].map((verb) => describeCommand(['svc', 'webhook', verb, id])),

  listAdminTokens: 'svc admin token list',
  listSessions: 'svc admin session list',
  listPasskeys: 'svc admin passkey list',
} as const
