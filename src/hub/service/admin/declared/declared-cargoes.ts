// Cargas that belong to selectors: to make or change one is one row, and each host gets it at its next poll. What is about a file that
// somebody has to seal, or about the entregas of many hosts, an operator does.

import { randomUUID } from 'node:crypto'
import { invariant } from '../../../../platform/errors.ts'
import { quoteForShell } from '../../../../platform/quote-for-shell.ts'
import { parseArtefactName, type CargoId } from '../../../../protocol/identifiers.ts'
import { formatSelector } from '../../../../protocol/selector.ts'
import { DeliveryKind } from '../../../../protocol/words.ts'
import type { Cargo } from '../../../domain/cargo.ts'
import type { DeclaredObject, ObjectChange, PresentObject } from '../../../domain/plan-fleet.ts'
import type { StoreReader } from '../../../store/store.ts'
import { AdminRefusal } from '../../admin-act.ts'
import { refuseTooManySelected } from '../../cargo/change-selection.ts'
import { parseCargoName, parseCargoSans, sansUnwanted } from '../../cargo/parse-cargo.ts'
import { parseDecidingWhere } from '../../parse-where.ts'
import {
  type AppliedChange,
  changesOf,
  type Declarable,
  present,
  sorted,
  valuesAfter,
} from './declarable.ts'

const KIND = 'carga'

type DeclaredCargo = NonNullable<Parameters<Declarable['declare']>[1]['cargas']>[number]

export const declaredCargoes: Declarable = {
  kind: KIND,
  whenUndeclared: 'remove object',
  declare: async (_reader, { cargas = [] }, { hubNames }) =>
    cargas.map((cargo) => declare(cargo, hubNames)),
  read: async (reader, { names, ids }) => {
    const cargoes = await reader.declared.findCargoes({ names, ids: ids as CargoId[] })
    const others = cargoes.filter(({ kind }) => kind !== DeliveryKind.push)
    for (const [name, namesakes] of Map.groupBy(others, (cargo) => cargo.name)) {
      if (namesakes.length === 1 || !names.includes(name)) continue
      throw new AdminRefusal('cargo_ambiguous', `more than one load is named ${name}`)
    }
    return Promise.all(others.map((cargo) => toPresent(reader, cargo)))
  },
  markTodo: (change) => {
    if (change.action === 'remove') {
      const todo = `svc load remove ${change.name} takes it from its hosts`
      return { ...change, action: 'todo', todo }
    }
    if (change.action === 'create') return markCreation(change)
    const fields = change.fields.map((field) => ({ ...field, todo: todoOf(change, field.field) }))
    const isAllTodo = fields.length > 0 && fields.every(({ todo }) => todo !== null)
    return { ...change, fields, ...(isAllTodo && { action: 'todo' as const }) }
  },
  check: async (reader, changes) => {
    const created = changesOf(changes, KIND, 'create')
    const selected = changesOf(changes, KIND, 'update').filter(({ fields }) =>
      fields.some(({ field, before }) => field === 'where' && before === null),
    )
    const more = created.length + selected.length
    if (more > 0) await refuseTooManySelected(reader, more)
    for (const after of await cargoesAfter(reader, changes)) {
      if (after.where !== null) continue
      const message = `load ${after.name} belongs to no selector: its files have to name one`
      throw new AdminRefusal('declared_incomplete', message)
    }
  },
  apply: async (writer, changes, { now }) => {
    const applied: AppliedChange[] = []
    for (const cargo of plannedCargoes(changes, now)) {
      await writer.insertCargo(cargo)
      applied.push(toApplied(cargo))
    }
    for (const after of await cargoesAfter(writer, changes)) {
      await writer.updateCargo(after)
      applied.push(toApplied(after))
    }
    return applied
  },
}

function declare(
  { nome, tipo, where, sans, sha256 }: DeclaredCargo,
  hubNames: readonly string[],
): DeclaredObject {
  if (tipo !== undefined && tipo !== DeliveryKind.csrCert && tipo !== DeliveryKind.sealed) {
    throw new AdminRefusal('tipo_invalid', `load ${nome}: type ${tipo} cannot be declared`)
  }
  if (sans !== undefined && (tipo === DeliveryKind.sealed || sha256 !== undefined)) {
    throw sansUnwanted()
  }
  const fields = present({
    tipo,
    where: where && formatSelector(parseDecidingWhere(where, `where of load ${nome}`)),
    sans: sans && sorted(parseCargoSans(sans, hubNames)),
    sha256,
  })
  return { kind: KIND, name: parseCargoName(nome), fields }
}

async function toPresent(reader: StoreReader, cargo: Cargo): Promise<PresentObject> {
  const isSealed = cargo.kind === DeliveryKind.sealed
  const content = isSealed ? await reader.summarizeContent(cargo.id) : undefined
  return {
    kind: KIND,
    id: cargo.id,
    name: cargo.name,
    fields: {
      tipo: cargo.kind,
      where: cargo.where,
      sans: sorted(cargo.sans),
      sha256: content?.sha256 ?? null,
    },
  }
}

function markCreation(change: ObjectChange): ObjectChange {
  const { tipo, where, sha256 } = valuesAfter(change)
  if (typeof where !== 'string') {
    throw new AdminRefusal('declared_incomplete', `load ${change.name} is new, and has no where`)
  }
  if (tipo !== DeliveryKind.sealed && sha256 === undefined) return change
  const todo = `seal it: svc load create --type sealed --name ${change.name} --where ${quoteForShell(where)} --file <file>`
  return { ...change, action: 'todo', todo }
}

/** What an apply leaves to an operator. */
function todoOf({ name }: ObjectChange, field: string): string | null {
  if (field === 'sha256') return `to be sealed by svc load update ${name} --file <file>`
  return field === 'tipo' ? `a load keeps its type: svc load remove ${name} makes room` : null
}

/** Those that a plan makes, each with an id of this plan alone. */
export function plannedCargoes(changes: readonly ObjectChange[], now: Date): readonly Cargo[] {
  return changesOf(changes, KIND, 'create').map((change) => {
    const { where, sans = [] } = valuesAfter(change)
    const name = parseArtefactName(change.name)
    invariant(name !== undefined && typeof where === 'string', 'a new carga has both')
    return {
      id: randomUUID() as CargoId,
      kind: DeliveryKind.csrCert,
      name,
      version: 1,
      sans: sans as readonly string[],
      where,
      createdAt: now,
      removedAt: null,
    }
  })
}

/** Of those that change. Other names are a next version, which the hosts get at their next polls. */
async function cargoesAfter(
  reader: StoreReader,
  changes: readonly ObjectChange[],
): Promise<readonly Cargo[]> {
  const touched = changesOf(changes, KIND, 'update')
  const ids = touched.map(({ id }) => id as CargoId)
  const known = await reader.declared.findCargoes({ names: [], ids })
  return touched.map((change) => {
    const old = known.find(({ id }) => id === change.id)
    invariant(old !== undefined, 'a carga that is changed is there')
    const { where, sans } = valuesAfter(change)
    return {
      ...old,
      ...(typeof where === 'string' && { where }),
      ...(sans !== undefined && { sans: sans as readonly string[], version: old.version + 1 }),
    }
  })
}

function toApplied({ id, name, version }: Cargo): AppliedChange {
  return { name, id, said: { carga_id: id, versao: version } }
}
