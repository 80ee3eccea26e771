// A server that gets one certificate after the other from the hub while clients never stop to ask it. TEST_RENEWALS says
// how many; 200 take a few minutes.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { waitForServed } from './served-certificate.ts'
import { waitUntil } from '../../support/processes.ts'
import type { ServiceHost } from './service-host.ts'
import { startTlsLoad } from './tls-load.ts'

const RENEWALS = Number(process.env['TEST_RENEWALS'] ?? 20)
/** Far more than it takes; a renewal is a second's work. */
export const LOAD_TIMEOUT_MS = 60_000 + RENEWALS * 10_000

/** The target is written, and the server runs with what its package gave it. */
export async function renewUnderLoad(
  context: TestContext,
  host: ServiceHost,
  port: number,
): Promise<void> {
  host.run()
  await host.waitForApplied(await host.deliver())
  // Workers that were told to end may still show what they began with, to which no root leads; after another renewal
  // that is a certificate of the hub.
  await host.waitForApplied(await host.renew())
  const load = startTlsLoad(port, await readFile(host.rootPath, 'utf8'))
  const startedMs = performance.now()
  const serials: string[] = []
  try {
    for (let renewal = 0; renewal < RENEWALS; renewal += 1) {
      const applied = await host.waitForApplied(await host.renew())
      const serial = String(applied.payload['serial'])
      serials.push(serial)
      await waitUntil(`${serial} to be served to some client`, () =>
        load.count.serials.has(serial) ? true : undefined,
      )
    }
  } finally {
    await load.stop()
  }
  const { handshakes, failures, serials: seen } = load.count
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  context.diagnostic(
    `${RENEWALS} renewals in ${seconds} s, ${handshakes} full handshakes, ${failures.length} failed, ${seen.size} certificates seen`,
  )
  assert.deepEqual(failures, [])
  assert.equal(new Set(serials).size, RENEWALS)
  await waitForServed({ port, rootPath: host.rootPath }, serials.at(-1))
  assert.deepEqual(await host.events('alvo_revertido'), [])
}
