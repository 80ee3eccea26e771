import { EVERY_ROLE, type Policy, type SelectorPolicy } from '../../domain/policy.ts'
import type { Page, StoreReader } from '../store.ts'
import { POLICY_PAGES, selectPage } from './pages.ts'
import { type PolicyRow, toPolicy } from './policy-rows.ts'
import { selectSelectorPolicies } from './selector-policies.ts'
import { SqliteJoinReader } from './sqlite-join-reader.ts'

type PolicyReader = Pick<
  StoreReader,
  'findPolicies' | 'listPolicies' | 'listSelectorPolicies' | 'pagePolicies'
>

/** What there is to read of politicas. */
export class SqlitePolicyReader extends SqliteJoinReader implements PolicyReader {
  async findPolicies(role: string): Promise<Policy[]> {
    const session = this.session()
    // Not one query with IN, for which SQLite makes a table of the two: ten times as dear, and every certificate asks.
    const find = (wanted: string): PolicyRow | undefined =>
      session.get<PolicyRow>('SELECT * FROM politicas WHERE role = ?', wanted)
    return [find(role), role === EVERY_ROLE ? undefined : find(EVERY_ROLE)]
      .filter((row) => row !== undefined)
      .map(toPolicy)
  }

  async listPolicies(): Promise<Policy[]> {
    const sql = 'SELECT * FROM politicas ORDER BY role'
    return this.session().all<PolicyRow>(sql).map(toPolicy)
  }

  async listSelectorPolicies(): Promise<SelectorPolicy[]> {
    return selectSelectorPolicies(this.session())
  }

  async pagePolicies(page: Page): Promise<Policy[] | undefined> {
    return selectPage(this.session(), POLICY_PAGES, page)
  }
}
