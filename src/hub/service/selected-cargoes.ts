// The cargas that belong to selectors, with their selectors as they are parsed once.

import { invariant } from '../../platform/errors.ts'
import { parseSelector, type Selector } from '../../protocol/selector.ts'
import type { SelectedCargo } from '../domain/decide-selected.ts'
import type { Store, StoreReader } from '../store/store.ts'

/** Each poll after a change looks at all of them. docs/protocol.md LBL-18. */
export const SELECTED_CARGOES_MAX = 1000

export interface SelectedCargoes {
  /** What is committed. */
  now(): Promise<readonly SelectedCargo[]>
  read(reader: StoreReader): Promise<readonly SelectedCargo[]>
}

export function createSelectedCargoes(store: Pick<Store, 'reader' | 'version'>): SelectedCargoes {
  let known: { readonly version: number; readonly cargoes: readonly SelectedCargo[] } | undefined
  let parsed = new Map<string, Selector>()
  const read = async (reader: StoreReader): Promise<readonly SelectedCargo[]> => {
    const cargoes = await reader.listSelectedCargoes()
    const before = parsed
    parsed = new Map()
    return cargoes.map((cargo) => {
      const text = cargo.where ?? ''
      const selector = parsed.get(text) ?? before.get(text) ?? parseStored(text)
      parsed.set(text, selector)
      return { cargo, selector }
    })
  }
  return {
    read,
    now: async () => {
      const { version } = store
      if (known?.version !== version) known = { version, cargoes: await read(store.reader) }
      return known.cargoes
    },
  }
}

/** It was checked when it was stored. */
export function parseStored(text: string): Selector {
  const found = parseSelector(text)
  invariant(found.ok, 'a stored selector is one')
  return found.selector
}
