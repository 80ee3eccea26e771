// Certificates of a few seconds that end while their connection is open.

import { X509Certificate } from 'node:crypto'
import { systemClock } from '../../../src/platform/clock.ts'
import type { AdminOperations } from '../../../src/protocol/admin/operations.ts'
import { createKeyAndCsr, enrollHost } from '../../../test/support/enrolled-host.ts'
import type { HubPorts } from '../../../test/support/hub.ts'
import type { Random } from '../../../test/simulation/seeded-random.ts'
import { inLanes } from '../in-lanes.ts'
import { askOnce, CUT, hubOf, OpenConnection, pickRoute, targetOf } from './identity-probe.ts'

export interface ExpiredOptions {
  readonly ports: HubPorts
  readonly admin: AdminOperations
  readonly identities: number
  readonly random: Random
}

/** Of the CA that the hub must have: long enough to enrol a batch, even on a busy machine. */
export const SHORT_LIFE = '10s'
const BATCH = 60
const LANES = 6
const LATE_MS_MAX = 40

export interface ExpiredFindings {
  readonly broken: readonly string[]
  /** Those that were served before they ended, and asked again afterwards. */
  readonly tried: number
}

export async function tryExpired(options: ExpiredOptions): Promise<ExpiredFindings> {
  const broken: string[] = []
  let tried = 0
  let batch = 0
  while (tried < options.identities) {
    batch += 1
    const size = Math.min(BATCH, options.identities - tried)
    const opened = await inLanes({ times: size, lanes: LANES }, (number) =>
      openOne(options, `expired-${batch}-${number}.example`),
    )
    const good = opened.filter((one) => one !== undefined)
    if (good.length === 0) return { broken: [...broken, 'no identity was ever served'], tried }
    const faults = await Promise.all(good.map((one) => askAfterTheEnd(options, one)))
    broken.push(...faults.flat())
    tried += good.length
  }
  return { broken, tried }
}

interface Opened {
  readonly hostname: string
  readonly connection: OpenConnection
  readonly target: ReturnType<typeof targetOf>
  readonly endMs: number
}

/** Undefined when it had ended before it was asked for the first time. */
async function openOne(
  { ports, admin }: ExpiredOptions,
  hostname: string,
): Promise<Opened | undefined> {
  const host = await enrollHost(hubOf(ports, admin), hostname)
  const target = targetOf(ports.mtls, host)
  const endMs = new X509Certificate(host.certPem).validToDate.getTime()
  try {
    const connection = await OpenConnection.open(target)
    const answer = await connection.ask('manifest', { csrPem: '' })
    if (answer === '200') return { hostname, connection, target, endMs }
    connection.close()
  } catch (error) {
    if (Date.now() < endMs) throw error
  }
  return undefined
}

async function askAfterTheEnd({ random }: ExpiredOptions, opened: Opened): Promise<string[]> {
  const { hostname, connection, target, endMs } = opened
  const csr = await createKeyAndCsr(hostname)
  const route = pickRoute(random)
  await systemClock.sleep(endMs - Date.now() + random() * LATE_MS_MAX)
  while (Date.now() < endMs) await systemClock.sleep(1)
  const onOpen = await connection.ask(route, csr)
  connection.close()
  const faults: string[] = []
  if (onOpen !== '401 certificate_expired') {
    faults.push(`${hostname}: ${route} answered ${onOpen} on a connection after its end`)
  }
  const onNew = await askOnce(target, route, csr)
  if (onNew !== CUT) faults.push(`${hostname}: ${route} answered ${onNew} on a new connection`)
  return faults
}
