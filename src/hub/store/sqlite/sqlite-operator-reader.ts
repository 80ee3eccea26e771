import type { TokenHash } from '../../../protocol/identifiers.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import type { StoreReader } from '../store.ts'
import { selectAccessToken, selectAccessTokens, selectTokensOfPeople } from './access-tokens.ts'
import { SqlitePolicyReader } from './sqlite-policy-reader.ts'
import { SqliteSessionReader } from './sqlite-sessions.ts'

type OperatorReader = Pick<
  StoreReader,
  'findAccessToken' | 'listAccessTokens' | 'listTokensOfPeople' | 'sessions'
>

/** What there is to read of those who operate the hub. */
export class SqliteOperatorReader extends SqlitePolicyReader implements OperatorReader {
  get sessions(): SqliteSessionReader {
    return new SqliteSessionReader(this.session)
  }

  async findAccessToken(hash: TokenHash): Promise<AccessToken | undefined> {
    return selectAccessToken(this.session(), hash)
  }

  async listAccessTokens(): Promise<AccessToken[]> {
    return selectAccessTokens(this.session())
  }

  async listTokensOfPeople(name: string): Promise<AccessToken[]> {
    return selectTokensOfPeople(this.session(), name)
  }
}
