// What a limit of CPU time means on this machine at this moment: the same work takes two or three times as long on another
// one, or on this one while its neighbours are busy. Such a limit is multiplied by what is measured here, beside the work.

import { createHash } from 'node:crypto'
import Database from 'better-sqlite3-multiple-ciphers'
import { medianOf } from '../../bench/ratio.ts'
import { measureCost } from '../../src/hub/http/connections/measure-cost.ts'

/** Of the standard work, on the machine that the limits were set on. */
const REFERENCE_MS = 2.3
const WARM_UPS = 20
const ATTEMPTS = 21
const ROWS = 400

/** How often longer the standard work takes here and now than on the machine of the limits; never under 1. */
export function measureSlowness(): number {
  for (let warmUp = 0; warmUp < WARM_UPS; warmUp += 1) doStandardWork()
  const costsMs = Array.from({ length: ATTEMPTS }, () => {
    const cost = measureCost()
    doStandardWork()
    return cost()
  })
  return Math.max(1, medianOf(costsMs) / REFERENCE_MS)
}

/** What a hub does for an act: it hashes, writes rows with an index, and reads them back. */
function doStandardWork(): void {
  const connection = new Database(':memory:')
  connection.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, hash TEXT, body TEXT) STRICT')
  connection.exec('CREATE INDEX rows_hash ON rows (hash)')
  const insert = connection.prepare('INSERT INTO rows (hash, body) VALUES (?, ?)')
  connection.exec('BEGIN')
  for (let row = 0, previous = ''; row < ROWS; row += 1) {
    const body = JSON.stringify({ row, previous, list: [1, 2, 3] })
    previous = createHash('sha256').update(body).digest('hex')
    insert.run(previous, body)
  }
  connection.exec('COMMIT')
  const bodies = connection.prepare('SELECT body FROM rows ORDER BY hash').pluck().all() as string[]
  for (const body of bodies) JSON.parse(body)
  connection.close()
}
