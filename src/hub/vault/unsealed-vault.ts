import type { Secret } from '../../platform/secret.ts'

/** An open vault: where its database is, and the key to it. */
export interface UnsealedVault {
  readonly root: string
  readonly vaultId: string
  readonly databasePath: string
  readonly dataKey: Secret<Buffer>
}
