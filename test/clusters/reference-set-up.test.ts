// The set-up of docs/high-availability.md as it is typed there: a database that loses its leader, under a hub that has its journal in it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { seedFrom } from '../simulation/seeded-random.ts'
import { tryFault } from './try-fault.ts'

const PROGRAMS = [postgresProgram('postgres'), 'etcd', 'ip', 'nsenter']
const SEED = seedFrom(process.env['CLUSTER_SEED'])
/** On a machine that does other work too. */
const OUTAGE_MS_MAX = 20_000

describe(`the reference set-up [seed ${SEED}]`, { skip: skipUnlessRunnable(PROGRAMS) }, () => {
  test("[JRN-5] a hub loses nothing when the leader's PostgreSQL is killed", async (context) => {
    const { outages, violations, surprises, acknowledged } = await tryFault({
      fault: 'leader-process',
      hubs: 1,
      replication: 'strict',
      seed: SEED,
      times: 1,
      seconds: 1,
      programs: undefined,
      etcd: undefined,
      progress: (text) => context.diagnostic(text),
    })
    assert.deepEqual(violations, [])
    assert.deepEqual(surprises, [])
    assert.ok(acknowledged > 100, `${acknowledged} answers`)
    const [outage] = outages
    assert.ok(outage && outage.writesMs < OUTAGE_MS_MAX)
  })
})
