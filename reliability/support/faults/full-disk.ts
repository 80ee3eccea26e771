// A hub whose disk is full, and one whose disk is nearly full: docs/protocol.md ERR-26 and LIM-20, LIM-41.

import { readEvents } from '../../../test/support/audit-log.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
} from '../../../test/support/enrolled-host.ts'
import { parseLog } from '../../../test/support/hub.ts'
import type { HubProcess } from '../../../test/support/hub-process.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import { post, send, type WireReply } from '../../../test/support/wire-client.ts'
import { describeReply, judge } from './commit-faults.ts'
import { isClearExit } from './process-faults.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

export interface FullDisk {
  readonly hub: HubProcess
  readonly disk: SmallDisk
  readonly host: EnrolledHost
  readonly broken: string[]
  /** Events that were answered 200. */
  readonly stored: Set<string>
  refused: number
}

const DISK_BYTES = 24 * 1024 * 1024
const FLOOR_BYTES = 8 * 1024 * 1024
const NO_LIMITS = { SVC_LIMIT_EVENTS: '0', SVC_LIMIT_EVENT_BYTES: '0', SVC_LIMIT_ISSUE: '0' }
const EVENTS_UNTIL_FULL_MAX = 2000

/** A hub that runs; it is started anew on a disk of its own, which goes when the stack does. */
export async function moveToSmallDisk(
  hub: HubProcess,
  stack: AsyncDisposableStack,
): Promise<FullDisk> {
  await hub.stop()
  const disk = stack.use(await mountSmallDisk(hub, DISK_BYTES))
  stack.defer(async () => void (await hub.stop('SIGKILL')))
  await hub.start({ ...NO_LIMITS, SVC_LIMIT_FREE_SPACE: '0' })
  const host = await enrollHost(hub, 'on-small-disk.example')
  await send(host.mtls, { path: '/v1/manifest' })
  return { hub, disk, host, broken: [], stored: new Set(), refused: 0 }
}

/** Full while it runs, and empty again. */
export async function fillWhileServing(run: FullDisk): Promise<void> {
  const { hub, disk, host } = run
  const { pid } = hub
  await disk.fillUpTo(0)
  await reportUntilRefused(run)
  const { csrPem } = await createKeyAndCsr(host.hostname)
  const renew = (): Promise<WireReply> => post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
  expect(run, 'a renewal on a full disk', await renew(), 'refused')
  await expectReads(run, 'on a full disk')
  const token = await hub.createToken({ hostname: 'late.example' }).catch((error: unknown) => error)
  if (!String(token).includes('store_unavailable')) {
    run.broken.push(`token create on a full disk: ${String(token)}`)
  }
  await disk.empty()
  await report(run, 'stored', 'when there is space again')
  expect(run, 'a renewal when there is space again', await renew(), 'stored')
  if (hub.pid !== pid) run.broken.push('the hub was another process')
}

/** Killed while it is full, started on what little is left, and started with space. */
export async function startWhileFull(run: FullDisk, freeBytes: number): Promise<void> {
  const { hub, disk } = run
  await disk.fillUpTo(freeBytes)
  await hub.stop('SIGKILL')
  try {
    await hub.start({ ...NO_LIMITS, SVC_LIMIT_FREE_SPACE: '0' })
    await expectReads(run, `started with ${freeBytes} bytes`)
    await hub.stop('SIGKILL')
  } catch {
    const ended = await hub.stop('SIGKILL')
    if (!isClearExit(ended)) {
      run.broken.push(`start with ${freeBytes} bytes: ${ended.status}: ${ended.stderr}`)
    }
  }
  await disk.empty()
  await hub.start({ ...NO_LIMITS, SVC_LIMIT_FREE_SPACE: '0' })
  await expectAllStored(run, `after a start with ${freeBytes} bytes`)
}

/** Below the floor each agent has its share of the reserve, below half of it events wait; all else goes on. */
export async function stayAboveFloor(run: FullDisk, renewals: number): Promise<void> {
  const { hub, disk, host } = run
  await hub.stop()
  await hub.start({ ...NO_LIMITS, SVC_LIMIT_FREE_SPACE: String(FLOOR_BYTES) })
  await report(run, 'stored', 'above the floor')
  await disk.fillUpTo(FLOOR_BYTES - 64 * 1024)
  // Its share is used up after two events more, some of which may come before the floor is noticed.
  await waitUntil('the share of the reserve to be used up', async () => {
    return judge(await sendEvent(run)) === 'refused' || undefined
  })
  const other = await enrollHost(hub, 'beside-a-flood.example')
  for (let count = 0; count < 10; count += 1) {
    const event = { tipo_evento: 'cert_renewed', payload: { serial: `${count}` } }
    const reply = await post(other.mtls, '/v1/events', event)
    expect(run, 'an event of another agent, from the reserve', reply, 'stored')
  }
  await disk.fillUpTo(FLOOR_BYTES / 2 - 64 * 1024)
  await waitUntil('the end of the reserve to be noticed', async () => {
    await sendEvent(run)
    return hub.logText().includes('the hub refuses events') || undefined
  })
  const third = await enrollHost(hub, 'after-the-reserve.example')
  const event = { tipo_evento: 'agent_started', payload: {} }
  const refused = await post(third.mtls, '/v1/events', event)
  expect(run, 'an event below half of the floor', refused, 'refused')
  for (let count = 0; count < renewals; count += 1) {
    const { csrPem } = await createKeyAndCsr(host.hostname)
    const renewed = await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
    expect(run, 'a renewal below the floor', renewed, 'stored')
    await report(run, 'refused', 'below the floor')
  }
  await expectReads(run, 'below the floor')
  await enrollHost(hub, 'below-the-floor.example')
  await disk.empty()
  await waitUntil('events to be taken again', async () => {
    return judge(await sendEvent(run)) === 'stored' || undefined
  })
  await expectFloorLogged(run)
  await expectAllStored(run, 'after the floor')
}

/** Once when it was passed and once when that was over, however many were refused. */
async function expectFloorLogged({ hub, broken }: FullDisk): Promise<void> {
  const saidOfDisk = (): string => {
    const whole = hub.logText().slice(0, hub.logText().lastIndexOf('\n') + 1)
    const lines = parseLog(whole).filter(({ module }) => module === 'hub.disk')
    return lines.map(({ msg }) => msg).join('; ')
  }
  await waitUntil('the log', () => saidOfDisk().endsWith('the hub takes events') || undefined)
  const expected = [
    'Disk nearly full, each agent has a little room for events',
    'Disk nearly full, the hub refuses events',
    'Disk has room again, the hub takes events',
  ]
  if (saidOfDisk() === expected.join('; ')) return
  broken.push(`logged of the floor: ${saidOfDisk()}`)
}

async function expectAllStored(run: FullDisk, when: string): Promise<void> {
  const logged = (await readEvents(run.hub)).map(({ request_id: id }) => id)
  const kept = new Set(logged)
  const lost = [...run.stored].filter((id) => !kept.has(id))
  if (lost.length > 0) run.broken.push(`${when}: lost ${lost.join(', ')}`)
  const sent = logged.filter((id) => id !== null)
  if (new Set(sent).size !== sent.length) run.broken.push(`${when}: an event is there twice`)
  const { status, stderr } = await run.hub.svc('evento', 'list', '--verify', '--json')
  if (status !== 0) run.broken.push(`${when}: ${stderr.trim()}`)
}

let eventNumber = 0

async function sendEvent(run: FullDisk): Promise<WireReply> {
  eventNumber += 1
  const id = `small-${eventNumber}`
  const payload = { text: 'x'.repeat(8000) }
  const event = { tipo_evento: 'disk_fills', payload, request_id: id }
  const reply = await post(run.host.mtls, '/v1/events', event)
  if (reply.status === 200) run.stored.add(id)
  else run.refused += 1
  return reply
}

async function report(run: FullDisk, verdict: 'stored' | 'refused', when: string): Promise<void> {
  expect(run, `an event ${when}`, await sendEvent(run), verdict)
}

/** What is left in the files may take some more. */
async function reportUntilRefused(run: FullDisk): Promise<void> {
  for (let count = 0; count < EVENTS_UNTIL_FULL_MAX; count += 1) {
    const reply = await sendEvent(run)
    if (reply.status === 200) continue
    expect(run, 'an event on a full disk', reply, 'refused')
    return
  }
  run.broken.push('the full disk took every event')
}

async function expectReads(run: FullDisk, when: string): Promise<void> {
  const manifest = await send(run.host.mtls, { path: '/v1/manifest' })
  if (manifest.status !== 200) run.broken.push(`manifest ${when}: ${describeReply(manifest)}`)
  const health = await send({ port: run.hub.ports.health }, { path: '/health' })
  if (health.status !== 200) run.broken.push(`health ${when}: ${describeReply(health)}`)
}

function expect(
  run: FullDisk,
  what: string,
  reply: WireReply,
  verdict: 'stored' | 'refused',
): void {
  if (judge(reply) !== verdict) run.broken.push(`${what}: ${describeReply(reply)}`)
}
