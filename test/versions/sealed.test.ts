// A sealed file for a host whose agent is now of this version, now of one that was released, which may know none.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { findDelivery } from '../support/deliveries.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import {
  createSealedCargo,
  type Sealed,
  sealForHosts,
  updateSealedCargo,
} from '../support/sealed-files.ts'
import { deliver } from './host-story.ts'
import { isBefore, OURS, startHubOf } from './pairings.ts'
import { ensureReleasedVersions } from './released-versions.ts'

const SINCE = '0.2.0'

for (const { version, skip, programs: theirs } of await ensureReleasedVersions()) {
  const knows = !isBefore(version, SINCE)
  describe(`sealed files and version ${version}`, { skip }, () => {
    let ca: RunningCa
    before(async () => {
      ca = await startDevCaProcess()
    })
    after(() => ca[Symbol.asyncDispose]())

    test(`[VER-7] [VER-9] of an agent ${knows ? 'are its own as well' : 'are left for this one, which takes them up'}`, async () => {
      await using hub = await startHubOf(ca, OURS)
      await using host = await enrolHost(hub, 'web-01', {}, theirs)
      assert.equal((await recipientOf(hub, host)) !== undefined, knows)
      const first = host.run(OURS)
      const cargaId = await deliverSealed(hub, host, 'one')
      first.kill('SIGKILL')
      await first.ended

      const old = host.run(theirs)
      const { entregas } = await updateSealedCargo(hub, cargaId, await seal(hub, host, 'two'))
      await deliver(hub, host, 'site')
      if (knows) await waitForContent(host, 'two')
      else {
        await waitUntil('its warning', () =>
          /"kind":"selado".*"Delivery of an unknown kind skipped"/.test(old.stderr())
            ? true
            : undefined,
        )
        assert.equal(await readSecret(host), 'one')
        assert.equal((await findDelivery(hub, entregas[0]?.id ?? ''))?.status, 'pendente')
      }
      old.kill('SIGKILL')
      await old.ended

      host.run(OURS)
      await waitForContent(host, 'two')
    })

    if (!knows) return
    test('[VER-6] reach this agent from its hub', async () => {
      await using hub = await startHubOf(ca, theirs)
      await using host = await enrolHost(hub, 'web-01')
      host.run()
      await deliverSealed(hub, host, 'one')
    })
  })
}

async function deliverSealed(hub: HubProcess, host: ManagedHost, content: string): Promise<string> {
  const sealed = await seal(hub, host, content)
  const { carga_id: cargaId, entregas } = await createSealedCargo(hub, 'secret', sealed)
  await waitForContent(host, content)
  await waitUntil('the hub to know', async () =>
    (await findDelivery(hub, entregas[0]?.id ?? ''))?.status === 'entregue' ? true : undefined,
  )
  return cargaId
}

/** For the recipient that the agent has told, or tells soon. */
async function seal(hub: HubProcess, host: ManagedHost, content: string): Promise<Sealed> {
  const known = await waitUntil('a recipient', () => recipientOf(hub, host))
  return sealForHosts([known], content)
}

async function recipientOf(
  hub: HubProcess,
  { hostname }: ManagedHost,
): Promise<{ agentId: string; recipient: string } | undefined> {
  const request = { agentes: [hostname], roles: [] }
  const { agentes } = await hub.admin<{ agentes: { id: string; recipient: string | null }[] }>(
    'POST',
    '/v1/admin/recipients/list',
    request,
  )
  const { id: agentId = '', recipient = null } = agentes[0] ?? {}
  return recipient === null ? undefined : { agentId, recipient }
}

async function waitForContent(host: ManagedHost, content: string): Promise<void> {
  await waitUntil(
    `${content} at ${host.hostname}`,
    async () => ((await readSecret(host)) === content ? true : undefined),
    60_000,
  )
}

function readSecret({ dataDir }: ManagedHost): Promise<string> {
  return readFile(join(dataDir, 'out/secret'), 'utf8').catch(() => '')
}
