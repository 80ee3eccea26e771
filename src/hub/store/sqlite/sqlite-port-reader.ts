// The parts of the port that have their own interfaces.

import { SqliteDeclaredReader } from './sqlite-declared.ts'
import { SqliteListReader } from './sqlite-list-reader.ts'
import { SqliteRolloutReader } from './sqlite-rollouts.ts'
import { SqliteSummaryReader } from './sqlite-summary.ts'
import { SqliteWebhookReader } from './sqlite-webhooks.ts'

export class SqlitePortReader extends SqliteListReader {
  get declared(): SqliteDeclaredReader {
    return new SqliteDeclaredReader(this.session)
  }

  get webhooks(): SqliteWebhookReader {
    return new SqliteWebhookReader(this.session)
  }

  get rollouts(): SqliteRolloutReader {
    return new SqliteRolloutReader(this.session)
  }

  get summary(): SqliteSummaryReader {
    return new SqliteSummaryReader(this.session)
  }
}
