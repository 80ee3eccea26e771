// What an operator says of a carga, on its way in.

import { randomUUID } from 'node:crypto'
import { AdminRefusal } from '../admin-act.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import {
  type ArtefactName,
  parseArtefactName,
  type CargoId,
} from '../../../protocol/identifiers.ts'
import { formatSelector } from '../../../protocol/selector.ts'
import { DeliveryKind } from '../../../protocol/words.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { isSubjectAltName, sharesHost } from '../../domain/subject-alt-name.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { parseSealedFile, type SealedFile } from './sealed-file.ts'

interface CargoRules {
  readonly hubNames: readonly string[]
  readonly contentBytesMax: number
}

/** Throws an AdminRefusal on what no carga may be. */
export function parseCargo(
  request: AdminRequest<'createCargo'>,
  { hubNames, contentBytesMax }: CargoRules,
  now: Date,
): { readonly cargo: Cargo; readonly file: SealedFile | undefined } {
  const kind = parseKind(request)
  const cargo: Cargo = {
    id: randomUUID() as CargoId,
    kind,
    name: parseCargoName(request.nome),
    version: 1,
    sans: parseCargoSans(request.sans, hubNames),
    where: parseCargoWhere(request),
    createdAt: now,
    removedAt: null,
  }
  const { selado } = request
  return { cargo, file: selado && parseSealedFile(selado, contentBytesMax) }
}

/** Throws an AdminRefusal on a name that no file may have. */
export function parseCargoName(nome: string): ArtefactName {
  const name = parseArtefactName(nome)
  if (name === undefined) {
    throw new AdminRefusal('nome_invalid', `name ${JSON.stringify(nome)} cannot be a file name`)
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
  where,
}: AdminRequest<'createCargo'>): Cargo['kind'] {
  if (where !== undefined && agentes.length + roles.length > 0) {
    throw new AdminRefusal('agents_unwanted', 'a load of a selector goes to the hosts that match')
  }
  if (where !== undefined && unassigned === true) {
    throw new AdminRefusal('unassigned_unwanted', 'a load of a selector cannot be unassigned')
  }
  if (tipo === DeliveryKind.sealed) {
    if (selado === undefined) throw contentMissing()
    if (sans.length > 0) throw sansUnwanted()
    if (unassigned === true) {
      throw new AdminRefusal('unassigned_unwanted', 'a sealed load cannot be unassigned')
    }
    if (agentes.length + roles.length > 0) {
      throw new AdminRefusal(
        'agents_unwanted',
        'a sealed load goes to the agents that its file is sealed for',
      )
    }
    return tipo
  }
  if (tipo === DeliveryKind.csrCert) {
    if (selado !== undefined) throw contentUnwanted()
    return tipo
  }
  throw new AdminRefusal('tipo_invalid', `type ${tipo} is not supported`)
}

function parseCargoWhere({ where }: AdminRequest<'createCargo'>): string | null {
  return where === undefined ? null : formatSelector(parseDecidingWhere(where))
}

export function contentMissing(): AdminRefusal {
  return new AdminRefusal('content_missing', 'a sealed load needs a sealed file')
}

export function contentUnwanted(): AdminRefusal {
  return new AdminRefusal('content_unwanted', 'a load of type csr_cert holds no file')
}

export function sansUnwanted(): AdminRefusal {
  return new AdminRefusal('sans_unwanted', 'a sealed load has no names')
}

/** Without repetitions; throws an AdminRefusal on a name that a certificate may not have. */
export function parseCargoSans(sans: readonly string[], hubNames: readonly string[]): string[] {
  for (const san of sans) {
    if (!isSubjectAltName(san)) {
      throw new AdminRefusal('san_invalid', `${san} is neither a DNS name nor an IP address`)
    }
    if (hubNames.some((hubName) => sharesHost(san, hubName))) {
      throw new AdminRefusal('san_reserved', `${san} covers a name of the hub itself`)
    }
  }
  return [...new Set(sans)]
}
