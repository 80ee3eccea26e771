import { randomUUID } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../protocol/admin.ts'
import type { AdminRole } from '../../protocol/admin-roles.ts'
import { artefactFiles, findSharedFile } from '../../protocol/artefact-files.ts'
import { type ArtefactName, parseArtefactName, type CargoId } from '../../protocol/identifiers.ts'
import { DeliveryKind, HubEventType } from '../../protocol/words.ts'
import type { Actor } from '../domain/actor.ts'
import type { Agent } from '../domain/agent.ts'
import type { Cargo } from '../domain/cargo.ts'
import { findForbiddenSans } from '../domain/role-rules.ts'
import { isSubjectAltName, sharesHost } from '../domain/subject-alt-name.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { findCargoAgents } from './cargo-agents.ts'
import { findRules } from './find-rules.ts'
import { recordHubAct } from './hub-acts.ts'
import { refuseOperatorsSans } from './refuse-operator.ts'
import { listStandingDeliveries, newDelivery } from './replace-delivery.ts'
import { describeContent, findSealedAgents, parseSealedFile } from './sealed-file.ts'
import type { SealedFile } from './sealed-file.ts'

export interface CargoDependencies {
  readonly store: Store
  readonly clock: Clock
  /** The hub’s own names, which no carga may have. */
  readonly hubNames: readonly string[]
  /** The most that a sealed file may hold. */
  readonly contentBytesMax: number
}

/** Registers a carga and one entrega per agent, all or nothing. */
export async function createCargo(
  dependencies: CargoDependencies,
  request: AdminRequest<'createCargo'>,
  actor: Actor,
  by: AdminRole,
): Promise<AdminReplies['createCargo']> {
  const { store, clock } = dependencies
  const now = clock.now()
  const { cargo, file } = parseCargo(request, dependencies, now)
  return store.write(async (writer) => {
    const agents =
      file === undefined
        ? await findWantedAgents(writer, request)
        : await findSealedAgents(writer, file)
    for (const agent of agents) {
      await refuseSameFile(writer, agent, cargo)
      await refuseForbiddenSans(writer, agent, cargo.sans)
      await refuseOperatorsSans(writer, agent, cargo.sans, by)
    }
    await writer.insertCargo(cargo)
    if (file !== undefined) await writer.setContent(cargo.id, file.content)
    await recordHubAct(writer, now, HubEventType.cargoCreated, {
      actor,
      carga_id: cargo.id,
      tipo: cargo.kind,
      nome: cargo.name,
      versao: cargo.version,
      sans: cargo.sans,
      agentes: agents.map((agent) => agent.hostname),
      ...(file && describeContent(file.content)),
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

/** Nobody, when a policy is to give it to agents that are yet to be enrolled. */
async function findWantedAgents(
  reader: StoreReader,
  request: AdminRequest<'createCargo'>,
): Promise<Agent[]> {
  if (request.unassigned !== true) return findCargoAgents(reader, request)
  if (request.agentes.length + request.roles.length === 0) return []
  throw new UserError('agents_unwanted', 'a carga that is unassigned is for nobody yet', {
    hint: 'agentes and roles are empty',
  })
}

function parseCargo(
  request: AdminRequest<'createCargo'>,
  { hubNames, contentBytesMax }: CargoDependencies,
  now: Date,
): { readonly cargo: Cargo; readonly file: SealedFile | undefined } {
  const kind = parseKind(request)
  const cargo: Cargo = {
    id: randomUUID() as CargoId,
    kind,
    name: parseCargoName(request.nome),
    version: 1,
    sans: parseCargoSans(request.sans, hubNames),
    createdAt: now,
    removedAt: null,
  }
  const { selado } = request
  return { cargo, file: selado && parseSealedFile(selado, contentBytesMax) }
}

/** Throws a UserError on a name that no file may have. */
export function parseCargoName(nome: string): ArtefactName {
  const name = parseArtefactName(nome)
  if (name === undefined) {
    throw new UserError('nome_invalid', `nome ${JSON.stringify(nome)} cannot be a file name`, {
      hint: 'letters, digits, . _ - (not first), no two dots in a row, at most 128 characters',
    })
  }
  return name
}

/** With what belongs to the kind, and nothing that belongs to another. */
function parseKind({
  tipo,
  agentes,
  roles,
  sans,
  selado,
  unassigned,
}: AdminRequest<'createCargo'>): Cargo['kind'] {
  if (tipo === DeliveryKind.sealed) {
    if (selado === undefined) throw contentMissing()
    if (sans.length > 0) throw sansUnwanted()
    if (unassigned === true) {
      throw new UserError('unassigned_unwanted', 'a sealed file cannot be for nobody', {
        hint: 'it is sealed for agents that are enrolled',
      })
    }
    if (agentes.length + roles.length > 0) {
      throw new UserError('agents_unwanted', 'a sealed file is for those that it is sealed to', {
        hint: 'destinatarios names them; agentes and roles are empty',
      })
    }
    return tipo
  }
  if (tipo === DeliveryKind.csrCert) {
    if (selado !== undefined) throw contentUnwanted()
    return tipo
  }
  throw new UserError('tipo_invalid', `tipo ${tipo} is not supported`, {
    hint: 'use --tipo csr_cert or --tipo selado',
  })
}

export function contentMissing(): UserError {
  return new UserError('content_missing', 'a carga of tipo selado needs a sealed file', {
    hint: 'name it by --file',
  })
}

export function contentUnwanted(): UserError {
  return new UserError('content_unwanted', 'a carga of tipo csr_cert holds no file')
}

export function sansUnwanted(): UserError {
  return new UserError('sans_unwanted', 'a carga of tipo selado has no names')
}

/** Without repetitions; throws a UserError on a name that a certificate may not have. */
export function parseCargoSans(sans: readonly string[], hubNames: readonly string[]): string[] {
  for (const san of sans) {
    if (!isSubjectAltName(san)) {
      throw new UserError('san_invalid', `${san} is neither a DNS name nor an IP address`, {
        hint: 'names are lower case, such as shop.example.org, *.example.org or 192.0.2.7',
      })
    }
    if (hubNames.some((hubName) => sharesHost(san, hubName))) {
      throw new UserError('san_reserved', `${san} covers a name of the hub itself`, {
        hint: 'those of SVC_SERVER_CN and SVC_SERVER_SANS are in no carga',
      })
    }
  }
  return [...new Set(sans)]
}

/** It would be refused at issue, for good; here somebody reads why. docs/protocol.md POL-11. */
export async function refuseForbiddenSans(
  reader: StoreReader,
  { hostname, role }: Pick<Agent, 'hostname' | 'role'>,
  sans: readonly string[],
): Promise<void> {
  const rules = await findRules(reader, role)
  const [forbidden] = findForbiddenSans(rules, hostname, sans)
  if (forbidden === undefined) return
  throw new UserError(
    'san_forbidden',
    `agente ${hostname} of role ${role} may not have the name ${forbidden}: politica ${rules.policyName}`,
    { hint: `svc politica list shows what each role may have` },
  )
}

/** Throws a UserError when another delivery of the agent writes a file of this cargo. */
export async function refuseSameFile(
  reader: StoreReader,
  agent: Agent,
  cargo: Cargo,
): Promise<void> {
  const files = artefactFiles(cargo.kind, cargo.name)
  for (const { cargo: other } of await listStandingDeliveries(reader, { agentId: agent.id })) {
    const shared = findSharedFile(artefactFiles(other.kind, other.name), files)
    if (shared === undefined) continue
    throw new UserError(
      'nome_taken',
      `agente ${agent.hostname} has a delivery named ${other.name} already, which writes ${shared}`,
      { hint: 'two deliveries may not write the same file; svc carga update makes a new version' },
    )
  }
}
