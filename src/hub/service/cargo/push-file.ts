// A file for one agent: a carga of tipo push, whose next version is whatever is pushed under the same name. docs/protocol.md PSH.

import { hash, randomUUID } from 'node:crypto'
import { type AdminAct, AdminRefusal } from '../admin-act.ts'
import { PUSH_BYTES_MAX } from '../../../protocol/admin/bounds.ts'
import { FILE_MODE_DEFAULT, formatFileMode, parseFileMode } from '../../../protocol/file-mode.ts'
import type { ArtefactName, CargoId, DeliveryId } from '../../../protocol/identifiers.ts'
import { DeliveryKind, HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo, CargoContent } from '../../domain/cargo.ts'
import type { StoreWriter } from '../../store/store.ts'
import { parseCargoName } from './parse-cargo.ts'
import { refuseSameFiles } from './refuse-agents.ts'
import { listStandingDeliveries, newDelivery, replaceDelivery } from './replace-delivery.ts'

export interface PushedFile {
  readonly name: ArtefactName
  readonly mode: number
  readonly content: CargoContent
}

/** Throws an AdminRefusal when it cannot be a file on a host. */
export function parsePushedFile({
  nome,
  conteudo,
  modo,
}: {
  readonly nome: string
  readonly conteudo: string
  readonly modo: string | undefined
}): PushedFile {
  const mode = modo === undefined ? FILE_MODE_DEFAULT : parseFileMode(modo)
  if (mode === undefined) {
    throw new AdminRefusal(
      'modo_invalid',
      `a pushed file cannot have the mode ${JSON.stringify(modo)}`,
    )
  }
  const bytes = Buffer.from(conteudo, 'utf8')
  if (bytes.toString('utf8') !== conteudo) {
    throw new AdminRefusal('content_invalid', 'the content is not text that UTF-8 can hold')
  }
  if (bytes.length > PUSH_BYTES_MAX) {
    throw new AdminRefusal(
      'content_too_large',
      `the content has ${bytes.length} bytes, over the limit of ${PUSH_BYTES_MAX}`,
    )
  }
  const content = { bytes, sha256: hash('sha256', bytes), escrow: [], mode }
  return { name: parseCargoName(nome), mode, content }
}

export async function pushFile(
  writer: StoreWriter,
  agent: Agent,
  file: PushedFile,
  now: Date,
): Promise<{ readonly act: AdminAct; readonly deliveryId: DeliveryId }> {
  const standing = await listStandingDeliveries(writer, { agentId: agent.id })
  const earlier = standing.find(
    ({ cargo: { kind, name } }) => kind === DeliveryKind.push && name === file.name,
  )
  const cargo = earlier === undefined ? newCargo(file, now) : nextVersion(earlier.cargo)
  if (earlier === undefined) {
    await refuseSameFiles(writer, [agent], cargo)
    await writer.insertCargo(cargo)
  } else await writer.updateCargo(cargo)
  await writer.setContent(cargo.id, file.content)
  const { cargoCreated, cargoUpdated } = HubEventType
  const payload = {
    carga_id: cargo.id,
    tipo: cargo.kind,
    nome: cargo.name,
    versao: cargo.version,
    agentes: [agent.hostname],
    sha256: file.content.sha256,
    bytes: file.content.bytes.length,
    modo: formatFileMode(file.mode),
  }
  const act = { type: earlier === undefined ? cargoCreated : cargoUpdated, payload }
  if (earlier !== undefined) {
    return { act, deliveryId: (await replaceDelivery(writer, earlier, cargo, now)).id }
  }
  const delivery = newDelivery(cargo, agent.id, now)
  await writer.insertDeliveries([delivery])
  return { act, deliveryId: delivery.id }
}

function newCargo({ name }: PushedFile, now: Date): Cargo {
  return {
    id: randomUUID() as CargoId,
    kind: DeliveryKind.push,
    name,
    version: 1,
    sans: [],
    where: null,
    createdAt: now,
    removedAt: null,
  }
}

function nextVersion(cargo: Cargo): Cargo {
  return { ...cargo, version: cargo.version + 1 }
}
