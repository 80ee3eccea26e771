// What an operator says of a carga, on its way in.

import { randomUUID } from 'node:crypto'
import { UserError } from '../../../platform/errors.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import {
  type ArtefactName,
  parseArtefactName,
  type CargoId,
} from '../../../protocol/identifiers.ts'
import { DeliveryKind } from '../../../protocol/words.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { isSubjectAltName, sharesHost } from '../../domain/subject-alt-name.ts'
import { parseSealedFile, type SealedFile } from './sealed-file.ts'

interface CargoRules {
  readonly hubNames: readonly string[]
  readonly contentBytesMax: number
}

/** Throws a UserError on what no carga may be. */
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
