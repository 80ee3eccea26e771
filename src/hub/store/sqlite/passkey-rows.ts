import type { Passkey } from '../../domain/passkey.ts'
import { fromDate, toDate } from './instants.ts'
import { fromPerson, type PersonColumns, toPerson } from './person-columns.ts'

/** A part of a step of migrations.ts. */
export const PASSKEYS = `
-- Of the console: what people confirm acts by, public keys alone.
CREATE TABLE passkeys (
  ordem INTEGER PRIMARY KEY,
  credencial_id TEXT NOT NULL UNIQUE,
  nome TEXT NOT NULL,
  -- Whose they are under whatever name; null for those of a name alone.
  emissor TEXT,
  sujeito TEXT,
  rotulo TEXT NOT NULL,
  chave BLOB NOT NULL,
  transportes TEXT NOT NULL,
  contador INTEGER NOT NULL,
  challenged_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE INDEX passkeys_por_nome ON passkeys (nome, ordem) WHERE emissor IS NULL;
CREATE INDEX passkeys_por_pessoa ON passkeys (emissor, sujeito, ordem) WHERE emissor IS NOT NULL;
`

export interface PasskeyRow extends PersonColumns {
  readonly credencial_id: string
  readonly nome: string
  readonly rotulo: string
  readonly chave: Uint8Array
  readonly transportes: string
  readonly contador: number
  readonly challenged_at: number
  readonly created_at: number
  readonly last_used_at: number | null
}

export function toPasskey(row: PasskeyRow): Passkey {
  return {
    credentialId: row.credencial_id,
    name: row.nome,
    person: toPerson(row),
    label: row.rotulo,
    publicKey: row.chave,
    transports: JSON.parse(row.transportes) as readonly string[],
    counter: row.contador,
    challengedAt: new Date(row.challenged_at),
    createdAt: new Date(row.created_at),
    lastUsedAt: toDate(row.last_used_at),
  }
}

export function fromPasskey(passkey: Passkey): PasskeyRow {
  return {
    credencial_id: passkey.credentialId,
    nome: passkey.name,
    ...fromPerson(passkey.person),
    rotulo: passkey.label,
    chave: passkey.publicKey,
    transportes: JSON.stringify(passkey.transports),
    contador: passkey.counter,
    challenged_at: passkey.challengedAt.getTime(),
    created_at: passkey.createdAt.getTime(),
    last_used_at: fromDate(passkey.lastUsedAt),
  }
}
