// An agent of each released version with the hub of this one, and the other way round, on real processes.

import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readEvents, waitForEvent } from '../support/audit-log.ts'
import { createDelivery, findDelivery } from '../support/deliveries.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import { parseLog } from '../support/hub.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { enrolHost } from '../support/managed-host.ts'
import { type RunningProgram, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { assertLogVerifies, deliver, deliverAnew, identitySerialOf } from './host-story.ts'
import { listPairings, type Pairing, startHubOf } from './pairings.ts'

const pairings = await listPairings()

describe('an agent and a hub of two versions', { concurrency: 2 }, () => {
  for (const pairing of pairings) tellStories(pairing)
})

function tellStories({ name, skip, programs }: Pairing): void {
  describe(name, { skip, concurrency: 1 }, () => {
    let ca: RunningCa
    let hub: HubProcess
    before(async () => {
      ca = await startDevCaProcess()
      hub = await startHubOf(ca, programs.hub)
    })
    after(async () => {
      await hub[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
    })

    test('[VER-6] enrols, polls, installs, runs its hook and says so, also after a restart of either', async () => {
      await using host = await enrolHost(hub, 'web-01', {}, programs.agent)
      const running = host.run()
      await waitForEvent(hub, 'manifest_pulled', host)
      const cargaId = await deliver(hub, host, 'site')
      const [installed] = await readEvents(hub, 'entrega_instalada', host)
      assert.equal(installed?.payload['carga_nome'], 'site')
      await deliverAnew(hub, host, 'site', cargaId)
      assertNothingWentWrong(running)

      running.kill('SIGKILL')
      await running.ended
      const again = host.run()
      await waitUntil('a second agent_started', async () =>
        (await readEvents(hub, 'agent_started', host)).length === 2 ? true : undefined,
      )
      await deliver(hub, host, 'after-its-restart')
      assertNothingWentWrong(again)

      assertOnlyUnknownRoutes(hub)
      const { enroll, mtls } = hub.ports
      await hub.stop('SIGKILL')
      await hub.start({
        SVC_ENROLL_BIND: `127.0.0.1:${enroll}`,
        SVC_MTLS_BIND: `127.0.0.1:${mtls}`,
      })
      await deliver(hub, host, 'after-the-hubs-restart')
      await assertLogVerifies(hub)
    })

    test('[VER-6] changes its identity beside a running agent, which goes on with the new one', async () => {
      await using host = await enrolHost(hub, 'web-02', {}, programs.agent)
      const running = host.run()
      await waitForEvent(hub, 'agent_started', host)
      const old = await identitySerialOf(host)
      const rotated = await host.agent('rotate')
      assert.equal(rotated.status, 0, rotated.stderr)
      const { payload } = await waitForEvent(hub, 'cert_renewed', host)
      assert.deepEqual(payload, {
        old_serial: old,
        new_serial: await identitySerialOf(host),
        trigger: 'manual',
      })
      await deliver(hub, host, 'site')
      assertNothingWentWrong(running)
    })

    test('[VER-6] tells a failure, tries again when it is asked to, and tells of a hook that fails', async () => {
      await using host = await enrolHost(hub, 'web-03', {}, programs.agent)
      const foreign = join(host.dataDir, 'out/site.crt')
      await writeFile(foreign, 'not ours\n')
      host.run()
      const { id } = await createDelivery(hub, host.hostname, 'site')
      await waitForEvent(hub, 'entrega_falhou', host)
      assert.equal((await findDelivery(hub, id))?.status, 'falhou')
      await rm(foreign)
      await writeFile(join(host.dataDir, 'hooks/post-csr-cert'), '#!/bin/sh\nexit 3\n')
      await hub.admin('POST', '/v1/admin/entregas/retry', { entrega: id })
      const { payload } = await waitForEvent(hub, 'hook_falhou', host)
      assert.equal(payload['exit_code'], 3)
      await waitForEvent(hub, 'entrega_instalada', host)
    })

    test('[VER-6] is refused once it is revoked, and keeps what it has', async () => {
      await using host = await enrolHost(hub, 'web-04', {}, programs.agent)
      const running = host.run()
      await deliver(hub, host, 'kept')
      await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: host.hostname })
      await waitUntil('the agent to be refused', () =>
        running.stderr().includes('agent_revoked') ? true : undefined,
      )
      assert.equal(running.hasEnded(), false)
    })
  })
}

/** What the other version does not have is nothing to be warned about. */
function assertNothingWentWrong(agent: RunningProgram): void {
  const text = agent.stderr()
  const entries = parseLog(text.slice(0, text.lastIndexOf('\n') + 1))
  assert.ok(entries.length > 0)
  const unusual = entries.filter(({ level }) => level !== 'info' && level !== 'debug')
  assert.deepEqual(unusual, [])
}

/** All that a hub may have refused is what it does not have. */
function assertOnlyUnknownRoutes(hub: HubProcess): void {
  const refusals = hub.logEntries().filter(({ status }) => Number(status) >= 400)
  assert.deepEqual(
    refusals.filter(({ error }) => error !== 'route_not_found'),
    [],
  )
}
