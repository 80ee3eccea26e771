import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { AccessToken, Person } from '../../domain/access-token.ts'
import type { Page, StoreReader } from '../store.ts'
import {
  selectAccessToken,
  selectAccessTokens,
  selectTokensOfPeople,
  selectTokensOfPerson,
} from './access-tokens.ts'
import { ACCESS_TOKEN_PAGES, selectPage } from './pages.ts'
import { SqlitePasskeyReader } from './sqlite-passkeys.ts'
import { SqlitePolicyReader } from './sqlite-policy-reader.ts'
import { SqliteSessionReader } from './sqlite-sessions.ts'

type OperatorReader = Pick<
  StoreReader,
  | 'findAccessToken'
  | 'listAccessTokens'
  | 'pageAccessTokens'
  | 'listTokensOfPeople'
  | 'listTokensOfPerson'
  | 'passkeys'
  | 'sessions'
>

/** What there is to read of those who operate the hub. */
export class SqliteOperatorReader extends SqlitePolicyReader implements OperatorReader {
  get sessions(): SqliteSessionReader {
    return new SqliteSessionReader(this.session)
  }

  get passkeys(): SqlitePasskeyReader {
    return new SqlitePasskeyReader(this.session)
  }

  async findAccessToken(hash: TokenHash): Promise<AccessToken | undefined> {
    return selectAccessToken(this.session(), hash)
  }

  async listAccessTokens(): Promise<AccessToken[]> {
    return selectAccessTokens(this.session())
  }

  async pageAccessTokens(page: Page): Promise<AccessToken[] | undefined> {
    return selectPage(this.session(), ACCESS_TOKEN_PAGES, page)
  }

  async listTokensOfPeople(name: string): Promise<AccessToken[]> {
    return selectTokensOfPeople(this.session(), name)
  }

  async listTokensOfPerson(person: Person): Promise<AccessToken[]> {
    return selectTokensOfPerson(this.session(), person)
  }
}
