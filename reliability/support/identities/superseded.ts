// Identities that were followed by another, which was used. The minute of grace passes by turning the hub's clock.

import type { HubPorts } from '../../../test/support/hub.ts'
import {
  createKeyAndCsr,
  type EnrolledHost,
  enrollHost,
  type Identity,
  readIdentity,
} from '../../../test/support/enrolled-host.ts'
import { assertOk, post } from '../../../test/support/wire-client.ts'
import { TurnableClock } from '../../../test/support/agent-host.ts'
import { startFakeCa } from '../../../test/fakes/ca-server.ts'
import { startInProcessHub } from '../../../test/simulation/in-process-hub.ts'
import type { Random } from '../../../test/simulation/seeded-random.ts'
import { inLanes } from '../in-lanes.ts'
import {
  type Answer,
  askOnce,
  hubOf,
  OpenConnection,
  pickRoute,
  targetOf,
} from './identity-probe.ts'

export interface SupersededOptions {
  readonly identities: number
  readonly random: Random
}

const BATCH = 50
const LANES = 6
const GRACE_MS = 60_000
const CA_DEADLINE_MS = 10_000

export async function trySuperseded({ identities, random }: SupersededOptions): Promise<string[]> {
  const clock = new TurnableClock()
  await using ca = await startFakeCa()
  await using hub = await startInProcessHub(ca, { clock, caDeadlineMs: CA_DEADLINE_MS })
  const ports: HubPorts = { health: 0, enroll: hub.enrollPort, mtls: hub.mtlsPort }
  const faults: string[] = []
  for (let done = 0; done < identities; done += BATCH) {
    const times = Math.min(BATCH, identities - done)
    const followed = await inLanes({ times, lanes: LANES }, async (number) => {
      const host = await enrollHost(hubOf(ports, hub.admin), `followed-${done + number}.example`)
      return followOne(ports.mtls, host)
    })
    clock.offsetMs += GRACE_MS + 1
    const found = await inLanes({ times, lanes: LANES }, (number) =>
      askAfterGrace(followed[number] as Followed, random),
    )
    faults.push(...found.flat())
  }
  return faults
}

interface Followed {
  readonly hostname: string
  /** Of the old identity, opened before there was another. */
  readonly connection: OpenConnection
  readonly old: ReturnType<typeof targetOf>
  readonly current: ReturnType<typeof targetOf>
  /** What was wrong before the grace was over. */
  readonly faults: readonly string[]
}

async function followOne(port: number, host: EnrolledHost): Promise<Followed> {
  const { hostname } = host
  const old = targetOf(port, host)
  const connection = await OpenConnection.open(old)
  const answers: Answer[] = [await connection.ask('manifest', { csrPem: '' })]
  const current = targetOf(port, await renew(old, hostname))
  answers.push(await askOnce(current, 'manifest', { csrPem: '' }))
  answers.push(await connection.ask('manifest', { csrPem: '' }))
  const isServed = answers.every((answer) => answer === '200')
  const faults = isServed ? [] : [`${hostname}: answered ${answers.join(', ')} within the grace`]
  return { hostname, connection, old, current, faults }
}

async function renew(target: ReturnType<typeof targetOf>, hostname: string): Promise<Identity> {
  const { keyPem, csrPem } = await createKeyAndCsr(hostname)
  const reply = await post(target, '/v1/certs/issue', { csr_pem: csrPem })
  assertOk(reply)
  return readIdentity(reply, keyPem)
}

async function askAfterGrace(followed: Followed, random: Random): Promise<string[]> {
  const { hostname, connection, old, current } = followed
  const csr = await createKeyAndCsr(hostname)
  const faults = [...followed.faults]
  const expect = (answer: Answer, expected: Answer, where: string): void => {
    if (answer !== expected) faults.push(`${hostname}: answered ${answer} ${where}`)
  }
  const refusal = '401 certificate_superseded'
  expect(await connection.ask(pickRoute(random), csr), refusal, 'on a connection after the grace')
  expect(await askOnce(old, pickRoute(random), csr), refusal, 'on a new one after the grace')
  expect(await askOnce(current, 'manifest', csr), '200', 'with the identity that followed')
  connection.close()
  return faults
}
