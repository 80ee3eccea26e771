// Sealed cargas of a hub that answers from memory, and that lies when a test tells it to.

import { hash, randomUUID } from 'node:crypto'
import { AdminRefusal } from '../../src/hub/service/admin-act.ts'
import type { AdminSealed } from '../../src/protocol/admin/cargas.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { AdminAgent, AdminRecipient } from '../../src/protocol/admin/views.ts'
import { readAgeHeader } from '../../src/sealing/age-header.ts'
import { recipientOf } from '../../src/sealing/age-identity.ts'

/** Of an agent, and of the same one rebuilt; of an escrow. Good for nothing but tests. */
export const IDENTITIES = {
  host: 'AGE-SECRET-KEY-PQ-1VFG7P7Y8ZEGE7METHVU4Y9C47HGGR0VKGEZUM8T6LCNZRX0RZPDS6QHMFW',
  rebuilt: 'AGE-SECRET-KEY-PQ-1ST745WQ5WPXU4Q955432LM3LHCYVX27RGH2DTMG58VF5UGTK3UQSEYKM04',
  escrow: 'AGE-SECRET-KEY-PQ-1XY3SJEUKXNSGHPRZLHJXVEEJCJ30NX7U7Y2N8454M75YJ6SS7UVS3NC52M',
} as const

const CONTENT_BYTES_MAX = 1024 * 1024

type Named = Pick<AdminAgent, 'id' | 'hostname' | 'role'>

export interface SealedState {
  readonly agents: Named[]
  /** What it was given, oldest first. */
  readonly received: AdminSealed[]
  /** Whose recipient it names for every agent; those of role `old` have none. */
  identity: keyof typeof IDENTITIES
  /** Whom it adds to every answer. */
  unasked: Named[]
  /** What it hands out in place of the newest. */
  substitute: AdminSealed | undefined
  /** Called when it has handed out a content. */
  whenRead: () => Promise<void>
}

export function createSealedState(agent: Named): SealedState {
  const old = {
    id: '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a12',
    hostname: 'old-1.example.org',
    role: 'old',
  }
  return {
    agents: [agent, old],
    received: [],
    identity: 'host',
    unasked: [],
    substitute: undefined,
    whenRead: () => Promise.resolve(),
  }
}

/** One carga holds all of it, whatever its id. */
export function addSealedOperations(
  others: Omit<AdminOperations, 'listRecipients' | 'readContent'>,
  state: SealedState,
): AdminOperations {
  return {
    ...others,
    listRecipients: async ({ carga, agentes, roles }) => {
      const wanted =
        carga === undefined
          ? [...agentes, ...roles].map((name) => findAgent(state, name))
          : newestOf(state).destinatarios.map(({ agente }) => findAgent(state, agente))
      return {
        agentes: await Promise.all(
          [...wanted, ...state.unasked].map((agent) => toRecipient(state, agent)),
        ),
        escrow: carga === undefined ? [] : newestOf(state).escrow,
        content_bytes_max: CONTENT_BYTES_MAX,
      }
    },
    readContent: async ({ carga }) => {
      const { conteudo } = state.substitute ?? newestOf(state)
      const sha256 = hash('sha256', Buffer.from(conteudo, 'base64'))
      const versao = state.received.length
      await state.whenRead()
      return { carga_id: carga, versao, sha256, conteudo }
    },
    createCargo: async (request) => {
      if (request.selado === undefined) return others.createCargo(request)
      const isFirst = state.received.length === 0
      receive(state, request.selado)
      const agentes = request.selado.destinatarios.map(
        ({ agente }) => findAgent(state, agente).hostname,
      )
      const created = await others.createCargo({ ...request, agentes })
      return isFirst ? created : { ...created, carga_id: randomUUID() }
    },
    updateCargo: async (request) => {
      const { selado, versao = state.received.length } = request
      if (versao !== state.received.length)
        throw new AdminRefusal('versao_changed', 'another versao')
      if (selado !== undefined) receive(state, selado)
      return others.updateCargo(request)
    },
  }
}

function findAgent({ agents }: SealedState, name: string): Named {
  const found = agents.find(({ id, hostname, role }) => [id, hostname, role].includes(name))
  if (found !== undefined) return found
  throw new AdminRefusal('agent_not_found', `no agent ${name}`)
}

async function toRecipient(
  { identity }: SealedState,
  { id, hostname, role }: Named,
): Promise<AdminRecipient> {
  const recipient = role === 'old' ? null : await recipientOf(IDENTITIES[identity])
  return { id, hostname, role, recipient }
}

function newestOf({ received }: SealedState): AdminSealed {
  const newest = received.at(-1)
  if (newest !== undefined) return newest
  throw new AdminRefusal('cargo_not_sealed', 'load site is of type csr_cert')
}

function receive({ received }: SealedState, selado: AdminSealed): void {
  const header = readAgeHeader(Buffer.from(selado.conteudo, 'base64'), 1_000_000)
  if (!header.ok) throw new AdminRefusal('sealed_invalid', header.reason)
  received.push(selado)
}
