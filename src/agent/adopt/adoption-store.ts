// adopt/<id>/ in root's state of targets: `record.json`, and copies of everything as it was. It begins and ends by one rename.

import { join } from 'node:path'
import { Check } from 'typebox/value'
import { UserError } from '../../platform/errors.ts'
import { parseJson } from '../../platform/parse-json.ts'
import type { AdoptHost } from './adopt-host.ts'
import { Adoption } from './adoption.ts'

const RECORD = 'record.json'
const LEFT_OVER = /^\..*\.(new|gone)$/

export class AdoptionStore {
  readonly #directory: string
  readonly #host: AdoptHost

  constructor(directory: string, host: AdoptHost) {
    this.#directory = directory
    this.#host = host
  }

  /** In the order of their ids. Throws a UserError for a record that cannot be understood. */
  async list(): Promise<Adoption[]> {
    const names = (await this.#host.list(this.#directory)).filter((name) => /^[^.]/.test(name))
    const adoptions: Adoption[] = []
    for (const name of names.toSorted()) {
      const text = await this.#host.read(join(this.#directory, name, RECORD))
      if (text === undefined) continue
      const record = parseJson(text)
      if (!Check(Adoption, record) || record.id !== name) {
        const path = join(this.#directory, name, RECORD)
        throw new UserError('adoption_damaged', `${path} is damaged; beside it is what was there`)
      }
      adoptions.push(record)
    }
    return adoptions
  }

  /** Keeps copies of all that will be changed, and the record, durably. */
  async begin(adoption: Adoption): Promise<void> {
    await this.#sweep()
    const staged = join(this.#directory, `.${adoption.id}.new`)
    await this.#host.makeDirectory(staged)
    for (const [index, { path }] of adoption.places.entries()) {
      await this.#host.copyAsIs(path, join(staged, `old-${index}`))
    }
    for (const [index, stop] of adoption.stops.entries()) {
      if (stop.kind !== 'line') continue
      await this.#host.copyAsIs(stop.path, join(staged, `stop-${index}`))
    }
    await this.#host.create(join(staged, RECORD), textOf(adoption), 0o600)
    await this.#host.syncDirectory(staged)
    await this.#host.rename(staged, join(this.#directory, adoption.id))
    await this.#host.syncDirectory(this.#directory)
  }

  async moveTo(
    adoption: Adoption,
    phase: Adoption['phase'],
    applied = adoption.applied,
  ): Promise<Adoption> {
    const moved = { ...adoption, phase, applied }
    const directory = join(this.#directory, adoption.id)
    const staged = join(directory, `.${RECORD}.new`)
    await this.#host.removeTree(staged)
    await this.#host.create(staged, textOf(moved), 0o600)
    await this.#host.rename(staged, join(directory, RECORD))
    await this.#host.syncDirectory(directory)
    return moved
  }

  copyOf({ id }: Adoption, name: `old-${number}` | `stop-${number}`): string {
    return join(this.#directory, id, name)
  }

  async end({ id }: Adoption): Promise<void> {
    await this.#host.rename(join(this.#directory, id), join(this.#directory, `.${id}.gone`))
    await this.#host.syncDirectory(this.#directory)
    await this.#sweep()
  }

  /** What was begun and never became a record, or is over: copies hold keys. */
  async #sweep(): Promise<void> {
    for (const name of await this.#host.list(this.#directory)) {
      if (LEFT_OVER.test(name)) await this.#host.removeTree(join(this.#directory, name))
    }
  }
}

function textOf(adoption: Adoption): string {
  return `${JSON.stringify(adoption, undefined, 2)}\n`
}
