// A vault with a fleet in trouble, for people to look at: a night at the end of some weeks. The same seed and time make the same fleet.

import { openVaultStore } from '../src/hub/open-store.ts'
import { openWriter } from '../src/hub/store/sqlite/encrypted-database.ts'
import type { UnsealedVault } from '../src/hub/vault/vault.ts'
import {
  actMonthsAgo,
  actThroughTheEvening,
  createSetClock,
  EVENING_MS,
  PAGER_URL,
} from './troubled-acts.ts'
import { planCargoes, planDeliveries } from './troubled-cargoes.ts'
import { insertLog, planLog } from './troubled-log.ts'
import { planTroubledFleet, type TroubledOptions } from './troubled-plan.ts'
import { fillTroubledRows, planCertificates } from './troubled-rows.ts'
import { fillTables } from './vault-filler.ts'

const MINUTE_MS = 60_000
const MONTHS_AGO_MS = 75 * 86_400_000

export async function fillTroubledVault(
  vault: UnsealedVault,
  options: TroubledOptions,
  progress: (text: string) => void,
): Promise<void> {
  const fleet = planTroubledFleet(options)
  const clock = createSetClock(fleet.nowMs - MONTHS_AGO_MS)
  const first = await openVaultStore(vault, { clock })
  await actMonthsAgo(first, fleet, clock)
  await first.close()

  const cargoes = planCargoes(fleet)
  const deliveries = [...planDeliveries(fleet, cargoes)]
  const goods = { cargoes, deliveries, certificates: planCertificates(fleet, deliveries) }
  const log = planLog(fleet, goods)
  const evening = fleet.nowMs - EVENING_MS
  const since = log.findIndex(({ at }) => at.getTime() > evening)
  progress(`${fleet.hosts} hosts, ${deliveries.length} deliveries, ${log.length} entries`)
  fillTables(vault, () => undefined, {
    rows: (connection) => fillTroubledRows(connection, fleet, goods),
    log: (connection) => insertLog(connection, log.slice(0, since)),
  })

  progress('an evening of trouble')
  clock.set(evening)
  const second = await openVaultStore(vault, { clock })
  await actThroughTheEvening(second, fleet, { clock, said: log.slice(since) })
  await second.close()
  fallBehind(vault, fleet.nowMs)
}

/** The pager's receiver answers 503 since an hour. */
function fallBehind({ databasePath, dataKey }: UnsealedVault, nowMs: number): void {
  const connection = openWriter(databasePath, dataKey)
  connection
    .prepare(
      `UPDATE webhooks SET cursor_seq = (SELECT max(seq) FROM eventos) - 14, tentativas = 9,
         espera_ms = 600000, next_attempt_at = ?, last_success_at = ?, last_error_at = ?, erro = 'HTTP 503'
       WHERE url = ?`,
    )
    .run(nowMs + 4 * MINUTE_MS, nowMs - 112 * MINUTE_MS, nowMs - 6 * MINUTE_MS, PAGER_URL)
  connection.close()
}
