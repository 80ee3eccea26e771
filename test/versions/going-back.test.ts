// A site that goes from a released version to this one, hub first, and back again with its agent: one data directory,
// used by both in turn.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MIGRATIONS } from '../../src/hub/store/sqlite/migrations.ts'
import { readEvents } from '../support/audit-log.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { runProgram, type RunningProgram, waitUntil } from '../support/processes.ts'
import { assertLogVerifies, deliver, deliverAnew, serialOf } from './host-story.ts'
import { OURS, startHubOf } from './pairings.ts'
import { ensureReleasedVersions, type ReleasedVersion } from './released-versions.ts'

for (const released of await ensureReleasedVersions()) {
  const { version, skip, programs: theirs } = released
  describe(`a site of version ${version}`, { skip }, () => {
    test('[VER-9] goes to this version, hub first, and nothing is lost or done twice', async () => {
      await using ca = await startDevCaProcess()
      await using hub = await startHubOf(ca, theirs)
      await using host = await enrolHost(hub, 'web-01', {}, theirs)
      const old = host.run()
      const cargaId = await deliver(hub, host, 'first')
      await hub.stop()
      await startHubAs(hub, OURS)
      await deliver(hub, host, 'with-the-new-hub')
      await seesRunning(host, OURS)
      await end(old)
      host.run(OURS)
      await keepWhatIsThere(hub, host, async () => {
        await deliver(hub, host, 'with-both-new')
        await seesRunning(host, theirs)
        assert.equal((await host.agent('rotate')).status, 0)
      })
      await deliverAnew(hub, host, 'first', cargaId)
      await assertLogVerifies(hub)
    })

    test('[VER-9] takes its agent back again, and nothing is lost or done twice', async () => {
      await using ca = await startDevCaProcess()
      await using hub = await startHubOf(ca, OURS)
      await using host = await enrolHost(hub, 'web-01')
      const ours = host.run()
      const cargaId = await deliver(hub, host, 'first')
      await deliver(hub, host, 'second')
      await end(ours)
      host.run(theirs)
      await keepWhatIsThere(hub, host, () => deliver(hub, host, 'gone-back'))
      await deliverAnew(hub, host, 'first', cargaId)
      const rotated = await runProgram(join(theirs, 'svc-agent'), ['rotate'], host.environment)
      assert.equal(rotated.status, 0, rotated.stderr)
      await seesRunning(host, theirs)
      await deliver(hub, host, 'with-the-new-identity')
    })

    test('[VER-9] tells what this version could not tell while the hub was away', async () => {
      await using ca = await startDevCaProcess()
      await using hub = await startHubOf(ca, OURS)
      await using host = await enrolHost(hub, 'web-01')
      await hub.stop()
      const ours = host.run()
      await waitUntil('an event that waits', async () =>
        (await eventsWaiting(host)) > 0 ? true : undefined,
      )
      await end(ours)
      await startHubAs(hub, OURS)
      host.run(theirs)
      await waitUntil('nothing to wait any more', async () =>
        (await eventsWaiting(host)) === 0 ? true : undefined,
      )
      // Another is not begun while one waits.
      assert.equal((await readEvents(hub, 'agent_started', host)).length, 1)
      assert.deepEqual(await readdir(join(host.dataDir, 'state/outbox/refused')), [])
    })

    test('[VLT-16] refuses the vault of this one where that has another form, and leaves it as it is', async (context) => {
      if ((await migrationsOf(released)) === MIGRATIONS.length) {
        context.skip(`${version} has vaults of the same form`)
        return
      }
      await using ca = await startDevCaProcess()
      await using hub = await startHubOf(ca, OURS)
      await hub.stop()
      const untouched = await digestsOf(hub.vaultRoot)
      const refused = await runProgram(join(theirs, 'svc-server'), [], hub.environment)
      assert.equal(refused.status, 1)
      assert.match(refused.stderr, /newer version/)
      assert.deepEqual(await digestsOf(hub.vaultRoot), untouched)
      await hub.start()
    })
  })
}

/** As the other version, on the ports that its agents know. */
async function startHubAs(hub: HubProcess, programs: string): Promise<void> {
  const { enroll, mtls } = hub.ports
  const ports = { SVC_ENROLL_BIND: `127.0.0.1:${enroll}`, SVC_MTLS_BIND: `127.0.0.1:${mtls}` }
  await hub.start(ports, programs)
}

async function end(running: RunningProgram): Promise<void> {
  running.kill('SIGKILL')
  await running.ended
}

/** A command of either version asks the agent that runs. */
async function seesRunning({ environment }: ManagedHost, programs: string): Promise<void> {
  const agent = join(programs, 'svc-agent')
  const { status, stdout, stderr } = await runProgram(agent, ['status', '--json'], environment)
  assert.equal(status, 0, stderr)
  const { running, state } = JSON.parse(stdout) as { running: boolean; state: string }
  assert.deepEqual([running, state], [true, 'valid'])
}

/** What is installed already is neither asked for nor reported again. */
async function keepWhatIsThere(
  hub: HubProcess,
  host: ManagedHost,
  work: () => Promise<unknown>,
): Promise<void> {
  const readAll = async (): Promise<readonly (readonly [string, string])[]> => {
    const names = (await readdir(join(host.dataDir, 'out'))).filter((name) => name.endsWith('.crt'))
    return Promise.all(
      names.map(async (name) => [name, await serialOf(join(host.dataDir, 'out', name))] as const),
    )
  }
  const installed = await readAll()
  const reports = (await readEvents(hub, 'entrega_instalada', host)).length
  await work()
  const now = await readAll()
  assert.deepEqual(
    now.filter(([name]) => installed.some(([other]) => other === name)),
    installed,
  )
  assert.equal((await readEvents(hub, 'entrega_instalada', host)).length, reports + 1)
}

async function eventsWaiting({ dataDir }: ManagedHost): Promise<number> {
  const names = await readdir(join(dataDir, 'state/outbox'))
  return names.filter((name) => name.endsWith('.json')).length
}

async function migrationsOf({ directory }: ReleasedVersion): Promise<number> {
  const { MIGRATIONS: theirs } = (await import(
    join(directory, 'src/hub/store/sqlite/migrations.ts')
  )) as { MIGRATIONS: readonly unknown[] }
  return theirs.length
}

async function digestsOf(vaultRoot: string): Promise<readonly (readonly [string, string])[]> {
  const files = ['config.json', 'db.enc', 'audit.head']
  return Promise.all(
    files.map(
      async (name) => [name, hash('sha256', await readFile(join(vaultRoot, name)))] as const,
    ),
  )
}
