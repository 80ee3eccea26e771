import { randomUUID } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../protocol/admin.ts'
import { parseArtefactName, type CargoId } from '../../protocol/identifiers.ts'
import { DeliveryKind, HubEventType } from '../../protocol/words.ts'
import type { Agent } from '../domain/agent.ts'
import type { Cargo } from '../domain/cargo.ts'
import { coversName, isSubjectAltName } from '../domain/subject-alt-name.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { findAgent } from './find-agent.ts'
import { recordHubAct } from './hub-acts.ts'
import { listStandingDeliveries, newDelivery } from './replace-delivery.ts'

/** Registers a carga and one entrega per agent, all or nothing. */
export async function createCargo(
  store: Store,
  clock: Clock,
  hubNames: readonly string[],
  request: AdminRequest<'createCargo'>,
): Promise<AdminReplies['createCargo']> {
  const now = clock.now()
  const cargo = parseCargo(request, hubNames, now)
  return store.write(async (writer) => {
    const agents = await findRecipients(writer, request)
    for (const agent of agents) await refuseSameFile(writer, agent, cargo)
    await writer.insertCargo(cargo)
    await recordHubAct(writer, now, HubEventType.cargoCreated, {
      actor: 'admin',
      carga_id: cargo.id,
      tipo: cargo.kind,
      nome: cargo.name,
      versao: cargo.version,
      sans: cargo.sans,
      agentes: agents.map((agent) => agent.hostname),
    })
    const deliveries = []
    for (const agent of agents) {
      const delivery = newDelivery(cargo, agent.id, now)
      await writer.insertDelivery(delivery)
      deliveries.push({ id: delivery.id, agente_id: agent.id, hostname: agent.hostname })
    }
    return { carga_id: cargo.id, entregas: deliveries }
  })
}

function parseCargo(
  request: AdminRequest<'createCargo'>,
  hubNames: readonly string[],
  now: Date,
): Cargo {
  if (request.tipo !== DeliveryKind.csrCert) {
    throw new UserError('tipo_invalid', `tipo ${request.tipo} is not supported`, {
      hint: 'use --tipo csr_cert',
    })
  }
  const name = parseArtefactName(request.nome)
  if (name === undefined) {
    throw new UserError(
      'nome_invalid',
      `nome ${JSON.stringify(request.nome)} cannot be a file name`,
      {
        hint: 'letters, digits, . _ - (not first), no two dots in a row, at most 128 characters',
      },
    )
  }
  const sans = parseCargoSans(request.sans, hubNames)
  return {
    id: randomUUID() as CargoId,
    kind: DeliveryKind.csrCert,
    name,
    version: 1,
    sans,
    createdAt: now,
    removedAt: null,
  }
}

/** Without repetitions; throws a UserError on a name that a certificate may not have. */
export function parseCargoSans(sans: readonly string[], hubNames: readonly string[]): string[] {
  for (const san of sans) {
    if (!isSubjectAltName(san)) {
      throw new UserError('san_invalid', `${san} is neither a DNS name nor an IP address`, {
        hint: 'names are lower case, such as shop.example.org, *.example.org or 192.0.2.7',
      })
    }
    if (hubNames.some((hubName) => coversName(san, hubName))) {
      throw new UserError('san_reserved', `${san} covers a name of the hub itself`, {
        hint: 'those of SVC_SERVER_CN and SVC_SERVER_SANS are in no carga',
      })
    }
  }
  return [...new Set(sans)]
}

async function findRecipients(
  reader: StoreReader,
  request: AdminRequest<'createCargo'>,
): Promise<Agent[]> {
  const recipients = new Map<string, Agent>()
  for (const wanted of request.agentes) {
    const agent = await findAgent(reader, wanted)
    if (agent.revokedAt !== null) {
      throw new UserError('agent_revoked', `agente ${agent.hostname} is revoked`, {
        hint: 'svc agente list shows which are not; svc token create --reenroll lets a host come back',
      })
    }
    recipients.set(agent.id, agent)
  }
  if (request.roles.length > 0) {
    for (const agent of await reader.listAgents()) {
      const hasRole = request.roles.includes(agent.role)
      if (hasRole && agent.revokedAt === null) recipients.set(agent.id, agent)
    }
  }
  if (recipients.size === 0) {
    throw new UserError('no_recipient', 'no agente would get this carga', {
      hint: 'name agents by --agente or by --role',
    })
  }
  return [...recipients.values()]
}

/** Compared without case, for file systems that do not tell it apart. */
async function refuseSameFile(reader: StoreReader, agent: Agent, cargo: Cargo): Promise<void> {
  const standing = await listStandingDeliveries(reader, { agentId: agent.id })
  const fileName = cargo.name.toLowerCase()
  const other = standing.find((delivery) => delivery.cargo.name.toLowerCase() === fileName)
  if (other === undefined) return
  throw new UserError(
    'nome_taken',
    `agente ${agent.hostname} has a delivery named ${other.cargo.name} already`,
    { hint: 'two deliveries may not write the same file; svc carga update makes a new version' },
  )
}
