// The cargas that politicas name: by a name while one carga alone has it, else by id. In a plan that is the form of each.

import type { CargoId } from '../../../../protocol/identifiers.ts'
import type { Cargo } from '../../../domain/cargo.ts'
import type { StoreReader } from '../../../store/store.ts'
import { findCargo } from '../../cargo/find-cargo.ts'

export class CargoNames {
  readonly #reader: StoreReader
  readonly #cargoes: readonly Cargo[]

  private constructor(reader: StoreReader, cargoes: readonly Cargo[]) {
    this.#reader = reader
    this.#cargoes = cargoes
  }

  /** `planned` are there as soon as the plan is done. */
  static async read(
    reader: StoreReader,
    wanted: readonly string[],
    planned: readonly Cargo[] = [],
  ): Promise<CargoNames> {
    const { declared } = reader
    const found = await declared.findCargoes({ names: wanted, ids: wanted as CargoId[] })
    // Others of the same name as one that was found by its id.
    const names = [...new Set(found.map(({ name }) => name))]
    const named = await declared.findCargoes({ names, ids: [] })
    const all = new Map([...found, ...named, ...planned].map((cargo) => [cargo.id, cargo]))
    return new CargoNames(reader, [...all.values()])
  }

  /** Throws the refusal of a carga that is not there, or is several. */
  async find(wanted: string): Promise<Cargo> {
    const byId = this.#cargoes.find(({ id }) => id === wanted)
    const named = this.#cargoes.filter(({ name }) => name === wanted)
    const [only] = named
    if (byId !== undefined) return byId
    return only !== undefined && named.length === 1 ? only : findCargo(this.#reader, wanted)
  }

  /** Undefined for one that was removed. */
  nameOf(id: CargoId): string | undefined {
    const cargo = this.#cargoes.find((each) => each.id === id)
    if (cargo === undefined) return undefined
    const namesakes = this.#cargoes.filter(({ name }) => name === cargo.name)
    return namesakes.length === 1 ? cargo.name : cargo.id
  }
}
