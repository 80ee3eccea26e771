// Where the hosts of a selector are read from: an index that has all of them, and others beside, by hostname.

import { isBuiltIn } from '../../protocol/labels.ts'
import type { Selector } from '../../protocol/selector.ts'

/** Of a part of the hosts. */
export type HostIndex =
  | { readonly by: 'name'; readonly hostname: string }
  | { readonly by: 'role'; readonly role: string }
  /** Of one value, or of any. */
  | { readonly by: 'label'; readonly key: string; readonly value: string | undefined }

export type HostSource = HostIndex | { readonly by: 'all' }

/** The index that has the very hosts of the selector, and no other ones; undefined when none has. */
export function exactSourceOf(selector: Selector): HostIndex | undefined {
  const [term, ...others] = selector.terms
  if (term === undefined || others.length > 0) return undefined
  const isExact = term.values === undefined || term.values.length === 1
  return isExact ? sourcesOf(selector)[0] : undefined
}

/** Each has every host that the selector matches. Terms that exclude hosts, and several roles or names, have none. */
export function sourcesOf({ terms }: Selector): HostIndex[] {
  return terms.flatMap(({ key, values, isNegated }): HostIndex[] => {
    if (isNegated) return []
    const only = values?.length === 1 ? values[0] : undefined
    if (!isBuiltIn(key)) return [{ by: 'label', key, value: only }]
    if (only === undefined) return []
    return [key === 'name' ? { by: 'name', hostname: only } : { by: 'role', role: only }]
  })
}
