// What the store keeps of declared fleets: who owns which field. And its objects by many names at once.

import type { CargoId, JoinRuleId } from '../../protocol/identifiers.ts'
import type { Cargo } from '../domain/cargo.ts'
import type { JoinRule } from '../domain/join-rule.ts'
import type { OwnedField } from '../domain/plan-fleet.ts'
import type { Page } from './store.ts'

export interface NamesAndIds<Id> {
  readonly names: readonly string[]
  readonly ids: readonly Id[]
}

export interface OwnedPlace extends OwnedField {
  /** In the list. */
  readonly place: number
}

export interface DeclaredReader {
  /** Of the objects of which this manager owns something, all that anybody owns; by kind, object and field. */
  listOwnedWith(manager: string): Promise<OwnedField[]>
  /** Of these objects, all that anybody owns; in the same order. */
  listOwned(objects: readonly Pick<OwnedField, 'kind' | 'id'>[]): Promise<OwnedField[]>
  /** In the order in which they came to be owned, after a place. Each place is one. */
  pageOwned(page: Page): Promise<OwnedPlace[] | undefined>
  /** None that has ended. */
  findJoinRules(wanted: NamesAndIds<JoinRuleId>): Promise<JoinRule[]>
  /** Never removed ones. */
  findCargoes(wanted: NamesAndIds<CargoId>): Promise<Cargo[]>
}

export interface DeclaredWriter extends DeclaredReader {
  /** Each in place of who owned it. */
  putOwned(fields: readonly OwnedField[]): Promise<void>
  removeOwned(fields: readonly Pick<OwnedField, 'kind' | 'id' | 'field'>[]): Promise<void>
}
