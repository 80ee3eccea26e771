// A request for each admin operation that is as it should be; what it names is there, made for it where it goes with it.

import { randomUUID } from 'node:crypto'
import type {
  AdminOperationName,
  AdminOperations,
  AdminRequest,
} from '../../../src/protocol/admin/operations.ts'
import { newCredential } from '../../../test/support/passkey-samples.ts'
import { testWitness } from '../../../test/support/test-witness.ts'
import { TestTrustKey } from '../../../test/support/trust-keys.ts'

export interface Target {
  readonly admin: AdminOperations
  readonly hostname: string
  readonly agentId: string
  readonly role: string
}

type GoodRequests = {
  readonly [Name in AdminOperationName]: (
    target: Target,
  ) => Promise<AdminRequest<Name>> | AdminRequest<Name>
}

/** Nothing is revoked or removed of the host that has to go on. */
const NOBODY = 'nobody.example'
const SELECTOR_POLICY = 'extreme'
const WEBHOOK_URL = 'https://127.0.0.1:1/'

export const GOOD_REQUESTS: GoodRequests = {
  createToken: ({ role }) => ({ hostname: freshName(), role }),
  listTokens: () => ({}),
  revokeToken: async ({ admin, role }) => {
    const { id } = await admin.createToken({ hostname: freshName(), role })
    return { token: id }
  },
  createJoinRule: ({ role }) => freshRule(role),
  listJoinRules: () => ({}),
  showJoinRule: async ({ admin, role }) => ({
    join_rule: (await admin.createJoinRule(freshRule(role))).id,
  }),
  listJoinedHosts: async ({ admin, role }) => ({
    join_rule: (await admin.createJoinRule(freshRule(role))).id,
  }),
  endJoinRule: async ({ admin, role }) => ({
    join_rule: (await admin.createJoinRule(freshRule(role))).id,
  }),
  listAgents: () => ({}),
  showAgent: ({ hostname }) => ({ agente: hostname }),
  labelAgents: ({ hostname }) => ({ agente: hostname, set: { env: 'prod' } }),
  revokeAgent: () => ({ agente: NOBODY }),
  removeAgent: () => ({ agente: NOBODY }),
  listCaRevocations: () => ({}),
  search: ({ hostname }) => ({ q: hostname }),
  listCertificates: ({ hostname }) => ({ agente: hostname, state: 'fresh' }),
  createCargo: ({ hostname }) => cargoFor(hostname),
  listCargoes: () => ({}),
  showCargo: async (target) => ({ carga: await createCargo(target) }),
  updateCargo: async (target) => ({ carga: await createCargo(target) }),
  startRollout: async (target) => ({ carga: await createCargo(target), ...ROLLOUT_RULES }),
  startRotation: () => ({ ...ROLLOUT_RULES }),
  startUpdate: () => ({ programa: '0.5.0', ...ROLLOUT_RULES }),
  listRollouts: () => ({}),
  showRollout: async (target) => ({ rollout: await startRollout(target) }),
  pauseRollout: async (target) => ({ rollout: await startRollout(target) }),
  resumeRollout: async (target) => ({ rollout: await startRollout(target) }),
  undoRollout: async (target) => ({ rollout: await startRollout(target) }),
  setFreeze: () => ({ until: new Date(Date.now() + 60_000).toISOString(), why: 'a test' }),
  showFreeze: () => ({}),
  endFreeze: () => ({}),
  removeCargo: async (target) => ({ carga: await createCargo(target) }),
  selectCargo: async (target) => ({ carga: await createCargo(target), where: 'env=prod' }),
  showSelection: async (target) => ({ carga: await createCargo(target) }),
  pruneCargo: async (target) => ({ carga: await createSelectedCargo(target) }),
  listRecipients: ({ hostname }) => ({ agentes: [hostname], roles: [] }),
  readContent: async (target) => ({ carga: await createCargo(target) }),
  cancelDelivery: async ({ admin, hostname }) => {
    const { entregas } = await admin.createCargo(cargoFor(hostname))
    return { entrega: entregas[0]?.id ?? '' }
  },
  showDelivery: async ({ admin, hostname }) => {
    const { entregas } = await admin.createCargo(cargoFor(hostname))
    return { entrega: entregas[0]?.id ?? '' }
  },
  listHubs: () => ({}),
  removeHub: () => ({ hub: NOBODY }),
  retryDeliveries: () => ({}),
  listDeliveries: () => ({}),
  findDeliveries: ({ hostname }) => ({ agente: hostname, status: ['pendente'], all: true }),
  setPolicy: ({ role }) => ({ role }),
  listPolicies: () => ({}),
  showPolicy: ({ role }) => ({ role }),
  removePolicy: ({ role }) => ({ role }),
  setSelectorPolicy: () => ({ nome: SELECTOR_POLICY, where: 'env=extreme' }),
  listSelectorPolicies: () => ({}),
  showSelectorPolicy: () => ({ nome: SELECTOR_POLICY }),
  removeSelectorPolicy: () => ({ nome: SELECTOR_POLICY }),
  summarizeFleet: () => ({ horizon: '7d', samples: 'day' }),
  showFeatures: () => ({}),
  showExamination: () => ({}),
  showBundle: () => ({}),
  updateBundle: () => ({ force: true }),
  signBundle: async ({ admin }) => {
    const { numero, epoca, roots } = await admin.showBundle({})
    const key = new TestTrustKey()
    const fingerprints = roots.map(({ fingerprint }) => fingerprint)
    const signed = key.signSet(fingerprints, { numero: numero + 1, epoca })
    return { ...signed, trust_key: key.text, force: true }
  },
  listEntries: () => ({}),
  listRecords: () => ({}),
  listSegments: () => ({}),
  archiveEntries: () => ({ before: '2026-01-01T00:00:00Z' }),
  showCheckpoint: () => ({}),
  keepCosigned: async ({ admin }) => {
    const witness = testWitness()
    const { checkpoint } = await admin.showCheckpoint({})
    return { checkpoint: witness.cosign(checkpoint ?? 'none'), witnesses: [witness.key] }
  },
  showRangeProof: () => ({}),
  showBlockProofs: () => ({ entries: 1, blocks: [0] }),
  pushToAgent: ({ hostname }) => ({ agente: hostname, nome: 'motd', conteudo: 'x' }),
  createWebhook: () => ({ url: WEBHOOK_URL, tipos: ['nothing'] }),
  listWebhooks: () => ({}),
  showWebhook: webhookOf,
  testWebhook: webhookOf,
  replayWebhook: webhookOf,
  removeWebhook: webhookOf,
  showStatus: () => ({}),
  planFleet: ({ role }) => declaredFor(role),
  applyFleet: ({ role }) => ({ ...declaredFor(role), files_sha256: '0'.repeat(64) }),
  listOwnedFields: () => ({}),
  createAccessToken: () => ({ name: freshName(), role: 'viewer' }),
  listAccessTokens: () => ({}),
  listSessions: () => ({}),
  // Of a token no session asks, and none is there.
  showSession: () => ({}),
  endSession: () => ({ session: NOBODY }),
  prepareConfirmation: () => ({ request_sha256: '0'.repeat(64) }),
  listPasskeys: () => ({}),
  preparePasskey: () => ({}),
  registerPasskey: () => ({ label: freshName(), credential: newCredential() }),
  removePasskeys: () => ({ name: NOBODY }),
  createSignInLink: () => ({ name: freshName(), role: 'viewer' }),
  revokeAccessToken: async ({ admin }) => {
    const { id } = await admin.createAccessToken({ name: freshName(), role: 'viewer' })
    return { token: id }
  },
  showOwnToken: () => ({}),
  // On the socket no token asks.
  revokeOwnToken: () => ({}),
}

function declaredFor(role: string) {
  return { manager: freshName(), politicas: [{ role, reenroll: true }] }
}

export function cargoFor(hostname: string): AdminRequest<'createCargo'> {
  return { tipo: 'csr_cert', nome: freshName(), agentes: [hostname], roles: [], sans: [] }
}

async function createSelectedCargo({ admin, role }: Target): Promise<string> {
  const request = { tipo: 'csr_cert', nome: freshName(), agentes: [], roles: [], sans: [] }
  return (await admin.createCargo({ ...request, where: `role=${role}` })).carga_id
}

async function createCargo({ admin, hostname }: Target): Promise<string> {
  return (await admin.createCargo(cargoFor(hostname))).carga_id
}

async function webhookOf({ admin }: Target): Promise<{ webhook: string }> {
  const { webhooks } = await admin.listWebhooks({})
  const id = webhooks[0]?.id
  return { webhook: id ?? (await admin.createWebhook({ url: WEBHOOK_URL, tipos: ['nothing'] })).id }
}

function freshName(): string {
  return `x-${randomUUID().slice(0, 8)}`
}

function freshRule(role: string) {
  const name = freshName().replaceAll('.', '-')
  return { name, method: 'token', pattern: '*.rules.example', role, hosts_max: 1 } as const
}

const ROLLOUT_RULES = { waves: ['1', '100%'], soak_seconds: 0, max_failed: '0' }

async function startRollout(target: Target): Promise<string> {
  const carga = await createCargo(target)
  return (await target.admin.startRollout({ carga, ...ROLLOUT_RULES })).id
}
