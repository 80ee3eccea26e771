import type { JoinRuleId, TokenHash } from '../../../protocol/identifiers.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import type { JoinedHost, Page, ProofUser, StoreReader } from '../store.ts'
import {
  countJoinClaims,
  JOIN_RULE_PAGES,
  selectJoinedHosts,
  selectJoinProof,
  selectJoinRulesOfIssuer,
  selectJoinRule,
  selectJoinRuleNamed,
  selectJoinRulesByKey,
  selectJoinRulesInForce,
  selectWatchedJoinRules,
} from './join-rules.ts'
import { selectPage } from './pages.ts'
import { SqliteEntryReader } from './sqlite-entry-reader.ts'

type JoinReader = Pick<
  StoreReader,
  | 'findJoinRule'
  | 'findJoinRuleByToken'
  | 'findJoinRuleNamed'
  | 'listWatchedJoinRules'
  | 'listJoinRulesInForce'
  | 'countJoinClaims'
  | 'listJoinRulesOfIssuer'
  | 'listJoinRulesByKey'
  | 'findJoinProof'
  | 'pageJoinRules'
  | 'pageJoinedHosts'
>

/** What there is to read of join rules. */
export class SqliteJoinReader extends SqliteEntryReader implements JoinReader {
  async findJoinRule(id: JoinRuleId): Promise<JoinRule | undefined> {
    return selectJoinRule(this.session(), 'id', id)
  }

  async findJoinRuleByToken(hash: TokenHash): Promise<JoinRule | undefined> {
    return selectJoinRule(this.session(), 'token_hash', hash)
  }

  async findJoinRuleNamed(name: string): Promise<JoinRule | undefined> {
    return selectJoinRuleNamed(this.session(), name)
  }

  async listWatchedJoinRules(): Promise<JoinRule[]> {
    return selectWatchedJoinRules(this.session())
  }

  async listJoinRulesInForce(now: Date, limit: number): Promise<JoinRule[]> {
    return selectJoinRulesInForce(this.session(), now, limit)
  }

  async countJoinClaims(id: JoinRuleId): Promise<number> {
    return countJoinClaims(this.session(), id)
  }

  async listJoinRulesOfIssuer(issuer: string, limit: number): Promise<JoinRule[]> {
    return selectJoinRulesOfIssuer(this.session(), issuer, limit)
  }

  async listJoinRulesByKey(key: string, limit: number): Promise<JoinRuleId[]> {
    return selectJoinRulesByKey(this.session(), key, limit)
  }

  async findJoinProof(id: string): Promise<ProofUser | undefined> {
    return selectJoinProof(this.session(), id)
  }

  async pageJoinRules(page: Page): Promise<JoinRule[] | undefined> {
    return selectPage(this.session(), JOIN_RULE_PAGES, page)
  }

  async pageJoinedHosts(id: JoinRuleId, page: Page): Promise<JoinedHost[] | undefined> {
    return selectJoinedHosts(this.session(), id, page)
  }
}
