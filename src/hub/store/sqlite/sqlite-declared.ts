import type { CargoId, JoinRuleId } from '../../../protocol/identifiers.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import type { OwnedField } from '../../domain/plan-fleet.ts'
import type { DeclaredReader, DeclaredWriter, NamesAndIds, OwnedPlace } from '../declared-store.ts'
import type { Page } from '../store.ts'
import {
  deleteOwned,
  putOwned,
  selectCargoesNamed,
  selectOpenJoinRules,
  selectOwned,
  selectOwnedPage,
  selectOwnedWith,
} from './declared-rows.ts'
import type { SqlSession } from './sql-session.ts'

/** `session` answers the connection to ask, or throws when it may not be used now. */
export class SqliteDeclaredReader implements DeclaredReader {
  protected readonly session: () => SqlSession

  constructor(session: () => SqlSession) {
    this.session = session
  }

  async listOwnedWith(manager: string): Promise<OwnedField[]> {
    return selectOwnedWith(this.session(), manager)
  }

  async listOwned(objects: readonly Pick<OwnedField, 'kind' | 'id'>[]): Promise<OwnedField[]> {
    return selectOwned(this.session(), objects)
  }

  async pageOwned(page: Page): Promise<OwnedPlace[] | undefined> {
    return selectOwnedPage(this.session(), page)
  }

  async findJoinRules(wanted: NamesAndIds<JoinRuleId>): Promise<JoinRule[]> {
    return selectOpenJoinRules(this.session(), wanted)
  }

  async findCargoes(wanted: NamesAndIds<CargoId>): Promise<Cargo[]> {
    return selectCargoesNamed(this.session(), wanted)
  }
}

/** Its reads see what it wrote. */
export class SqliteDeclaredWriter extends SqliteDeclaredReader implements DeclaredWriter {
  async putOwned(fields: readonly OwnedField[]): Promise<void> {
    putOwned(this.session(), fields)
  }

  async removeOwned(fields: readonly Pick<OwnedField, 'kind' | 'id' | 'field'>[]): Promise<void> {
    deleteOwned(this.session(), fields)
  }
}
