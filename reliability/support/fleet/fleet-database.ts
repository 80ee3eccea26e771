// A database with as many agents of one role as asked for, and what of it everybody sees.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createDatabase, openWriter } from '../../../src/hub/store/sqlite/encrypted-database.ts'
import { openSqliteStore } from '../../../src/hub/store/sqlite/sqlite-store.ts'
import type { Store, StoreReader } from '../../../src/hub/store/store.ts'
import { Secret } from '../../../src/platform/secret.ts'

export const ROLE = 'web'
/** The one that polls. */
export const POLLING_HOSTNAME = 'host-7.example'

export interface FleetDatabase {
  readonly path: string
  /** A throwaway one, in hex. */
  readonly dataKey: string
}

export async function createFleet(directory: string, agents: number): Promise<FleetDatabase> {
  const key = randomBytes(32)
  const path = join(directory, 'db.enc')
  await createDatabase(path, new Secret(key))
  const connection = openWriter(path, new Secret(key))
  connection.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${agents})
    INSERT INTO agentes (id, hostname, role, token_hash, created_at)
      SELECT lower(hex(randomblob(4))) || '-0000-4000-8000-' || printf('%012x', i),
        'host-' || i || '.example', '${ROLE}', 't', 1 FROM n;
    INSERT INTO certificados (sha256, serial, agente_id, purpose, not_before, not_after)
      SELECT lower(hex(randomblob(32))), hostname, id, 'identity', 1, 4102444800000 FROM agentes;
    INSERT INTO raizes (epoca, numero, roots, created_at) VALUES (1, 1, '', 1)`)
  connection.close()
  return { path, dataKey: key.toString('hex') }
}

export function openFleet({ path, dataKey }: FleetDatabase): Promise<Store> {
  return openSqliteStore({ path, dataKey: new Secret(Buffer.from(dataKey, 'hex')) })
}

/** As if no agent could have installed what it waits for. */
export function failAll({ path, dataKey }: FleetDatabase): void {
  const connection = openWriter(path, new Secret(Buffer.from(dataKey, 'hex')))
  connection.exec("UPDATE entregas SET status = 'falhou' WHERE status = 'pendente'")
  connection.close()
}

/** The versions and statuses of all entregas, with how many there are of each. */
export async function countDeliveries(reader: StoreReader): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  let after: string | undefined
  for (;;) {
    const page = (await reader.pageDeliveries({ after, limit: 1000 })) ?? []
    for (const { cargo, version, status } of page) {
      const key = `${cargo.name} ${version} ${status}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    after = page.at(-1)?.id
    if (after === undefined) return counts
  }
}
