// Vaults to be damaged: a small one as a hub left it, one whose hub was killed, and a large one.

import { randomUUID } from 'node:crypto'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { openVaultStore } from '../../../src/hub/open-store.ts'
import { initVault, unsealVault, type UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { Secret } from '../../../src/platform/secret.ts'
import type { EntryId } from '../../../src/protocol/identifiers.ts'
import { createDelivery } from '../../../test/support/deliveries.ts'
import { enrollHost, type EnrolledHost } from '../../../test/support/enrolled-host.ts'
import { PASSPHRASE } from '../../../test/support/hub.ts'
import { type HubProcess, startHubProcess } from '../../../test/support/hub-process.ts'
import type { Variables } from '../../../test/support/processes.ts'
import { assertOk, post } from '../../../test/support/wire-client.ts'
import { appendEntry } from '../../../src/hub/service/append-entries.ts'

const EVENTS = 6
const LARGE_PAYLOAD_CHARACTERS = 700

export interface SmallVaults {
  /** Its hub was stopped in order: all of it is in the database. */
  readonly whole: UnsealedVault
  /** Its hub was killed: its last events are in the write-ahead log. */
  readonly killed: UnsealedVault
}

/** What a hub with two agents left behind. */
export async function makeSmallVaults(
  directory: string,
  caEnvironment: Variables,
): Promise<SmallVaults> {
  await using hub = await startHubProcess({ caEnvironment })
  const hosts = [await enrollHost(hub, 'one.example'), await enrollHost(hub, 'two.example')]
  for (const host of hosts) await createDelivery(hub, host.hostname, 'site')
  await hub.createToken({ hostname: 'three.example' })
  await reportFrom(hosts, 'before')
  await hub.stop()
  const whole = await keepVault(hub, join(directory, 'whole'))
  await hub.start()
  await reportFrom(hosts, 'after')
  await hub.stop('SIGKILL')
  return { whole, killed: await keepVault(hub, join(directory, 'killed')) }
}

async function reportFrom(hosts: readonly EnrolledHost[], when: string): Promise<void> {
  for (const host of hosts) {
    for (let number = 0; number < EVENTS; number += 1) {
      const id = `${when}-${number}`
      const event = { tipo_evento: 'agent_started', payload: { number }, request_id: id }
      assertOk(await post(host.mtls, '/v1/events', event))
    }
  }
}

async function keepVault({ vaultRoot }: HubProcess, root: string): Promise<UnsealedVault> {
  const filter = (path: string): boolean => !path.endsWith('.sock')
  await cp(vaultRoot, root, { recursive: true, filter })
  return unsealVault(root, new Secret(PASSPHRASE))
}

export async function makeLargeVault(directory: string, entries: number): Promise<UnsealedVault> {
  const vault = await initVault(join(directory, 'large'), new Secret(PASSPHRASE))
  const store = await openVaultStore(vault, { clock: systemClock })
  const payloadText = JSON.stringify({ text: 'x'.repeat(LARGE_PAYLOAD_CHARACTERS) })
  await store.write(async (writer) => {
    for (let number = 0; number < entries; number += 1) {
      await appendEntry(writer, {
        id: randomUUID() as EntryId,
        agentId: null,
        eventType: 'filled',
        payloadText,
        deliveryId: null,
        requestId: null,
        at: systemClock.now(),
      })
    }
  })
  await store.close()
  return vault
}
