// Hubs that share a vault are upgraded one after the other, while agents use them. docs/protocol.md HUB-12, JRN-14, JRN-15.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { MIGRATIONS } from '../../src/hub/store/sqlite/migrations.ts'
import { openReader } from '../../src/hub/store/sqlite/encrypted-database.ts'
import { unsealVault } from '../../src/hub/vault/vault.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminHubRow } from '../../src/protocol/admin/hubs.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { type AgentsOfHubs, startAgents } from '../support/agents-of-hubs.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { PASSPHRASE } from '../support/hub.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { makeNextVersion } from '../support/next-version.ts'
import { runProgram, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { type SeveralHubs, startSeveralHubs } from '../support/several-hubs.ts'
import { readTables } from '../support/temporary-store.ts'
import { startTestCa } from '../support/test-hub.ts'

const NOW = MIGRATIONS.length
const AGENTS = 6
/** Adds to a table that every request of an agent reads and writes, and fills a new one by a trigger. */
const ADDS = {
  sql: `ALTER TABLE agentes ADD COLUMN sala TEXT;
    UPDATE agentes SET sala = 'b';
    CREATE TABLE vistos (agente_id TEXT NOT NULL PRIMARY KEY, vezes INTEGER NOT NULL) STRICT;
    CREATE TRIGGER agentes_vistos AFTER UPDATE OF last_seen_at ON agentes
    BEGIN
      INSERT INTO vistos (agente_id, vezes) VALUES (new.id, 1)
        ON CONFLICT (agente_id) DO UPDATE SET vezes = vezes + 1;
    END;`,
  readableFrom: NOW,
}
/** No program of before can go on after it. */
const TAKES_AWAY = { sql: 'ALTER TABLE agentes DROP COLUMN sala;', readableFrom: NOW + 2 }

describe(
  'hubs that are upgraded one after the other',
  { skip: skipUnlessRunnable([postgresProgram('postgres')]) },
  () => {
    let ca: RunningCa
    let hubs: SeveralHubs
    let directory: string
    let next: string
    let afterNext: string
    let one: HubProcess
    let two: HubProcess
    let three: HubProcess
    let agents: AgentsOfHubs
    before(async () => {
      ca = await startTestCa()
      hubs = await startSeveralHubs(3, { caEnvironment: ca.environment })
      const [first, second, third] = hubs.all
      assert.ok(first && second && third)
      one = first
      two = second
      three = third
      directory = await mkdtemp(join(tmpdir(), 'next-version-'))
      next = await makeNextVersion(join(directory, 'next'), [ADDS])
      afterNext = await makeNextVersion(join(directory, 'after-next'), [ADDS, TAKES_AWAY])
      agents = await startAgents(hubs.all, AGENTS)
    })
    after(async () => {
      await agents.stop()
      await hubs[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
      await rm(directory, { recursive: true })
    })

    const listed = async (hub: HubProcess): Promise<readonly AdminHubRow[]> =>
      (await hub.admin<{ hubs: readonly AdminHubRow[] }>('GET', '/v1/admin/hubs')).hubs

    /** What agents do goes on, of each kind. */
    const goesOn = async (): Promise<void> => {
      const { polls, events, enrolments } = agents.seen
      await waitUntil('agents to be served', () => {
        const { seen } = agents
        const isServed =
          seen.polls > polls + AGENTS &&
          seen.events > events + AGENTS &&
          seen.enrolments > enrolments
        return isServed || undefined
      })
    }

    test('[JRN-15] what a hub that runs could not use is refused before it is done', async () => {
      await goesOn()
      await one.stop()
      const refused = await runProgram(join(afterNext, 'svc-server'), [], one.environment)
      assert.equal(refused.status, 1)
      assert.match(
        refused.stderr,
        /this version needs tables of format \d+, which hub \S+ at \S+ \(version \S+, running\) cannot use/,
      )
    })

    test('[JRN-14] a hub of the next version that is killed as it starts leaves the others as they were', async () => {
      const starting = one.start({}, next)
      await waitUntil('the vault to be open', () =>
        one.logText().includes('vault unsealed') ? true : undefined,
      )
      await Promise.all([assert.rejects(starting), one.stop('SIGKILL')])
      await goesOn()
    })

    test('[HUB-12] [JRN-14] three hubs go to the next version one after the other: no agent sees an error', async () => {
      // Two of them at once: the second one finds nothing left to do.
      await two.stop()
      await Promise.all([one.start({}, next), two.start({}, next)])
      for (const hub of hubs.all) {
        await waitUntil('the tables to go forward', () =>
          hub.logText().includes('Tables of the shared vault brought forward') ? true : undefined,
        )
      }
      await goesOn()
      await three.stop()
      await three.start({}, next)
      await goesOn()
      assert.deepEqual(agents.seen.errors, [])
    })

    test('[HUB-12] [JRN-15] one of them goes back to this version, and so does svc without a hub', async () => {
      await two.stop()
      const { status, stdout } = await runSvcHere(['agent', 'list'], two.environment)
      assert.equal(status, 0)
      assert.match(stdout, /agent-0\.example\.org/)
      await two.start()
      await enrollHost(two, 'older.example.org')
      await goesOn()
      const known = (await listed(two)).map(({ tables }) => tables)
      assert.deepEqual(new Set(known), new Set([NOW, NOW + 1]))
    })

    test('[HUB-12] tables, log and tree are the same on all of them', async (context) => {
      await agents.stop()
      const { seen } = agents
      context.diagnostic(
        `polls ${seen.polls}, events ${seen.events}, enrolments ${seen.enrolments}, streams ${seen.streams}, tries at another hub ${seen.retries}, longest without an answer ${(seen.longestMs / 1000).toFixed(1)} s`,
      )
      assert.deepEqual(seen.errors, [])
      assert.equal((await listed(three)).filter(({ state }) => state === 'running').length, 3)
      for (const hub of hubs.all) await hub.stop()
      const checkpoints = new Set<string>()
      // Without a hub, svc follows what the others have written last.
      for (const hub of hubs.all) {
        const verified = await runSvcHere(['evento', 'list', '--verify'], hub.environment)
        assert.equal(verified.status, 0, verified.stderr)
        checkpoints.add((await runSvcHere(['checkpoint'], hub.environment)).stdout)
      }
      assert.equal(checkpoints.size, 1)
      const [first, ...others] = await Promise.all(hubs.all.map((hub) => tablesOf(hub)))
      for (const other of others) assert.deepEqual(other, first)
      assert.equal(first?.version, NOW + 1)
    })

    test('[JRN-15] with all others stopped, what takes away is done, and an older hub is refused by name', async () => {
      await one.start({}, afterNext)
      const refused = await runProgram('svc-server', [], two.environment)
      assert.equal(refused.status, 1)
      assert.match(
        refused.stderr,
        new RegExp(
          `another hub has brought the tables to format ${NOW + 2}, which programs that know format ${NOW + 2} can use; this one knows formats up to ${NOW}\n`,
        ),
      )
      assert.match(refused.stderr, /hint: upgrade this hub to the version that the other one has/)
    })
  },
)

async function tablesOf({ vaultRoot }: HubProcess) {
  const { databasePath, dataKey } = await unsealVault(vaultRoot, new Secret(PASSPHRASE))
  const connection = openReader(databasePath, dataKey)
  const version: unknown = connection.pragma('user_version', { simple: true })
  connection.close()
  return { version, tables: readTables(databasePath, dataKey) }
}
