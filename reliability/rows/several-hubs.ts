// Three hubs share one vault. Clients use one token at all of them at once; agents are revoked at one and ask another.

import { postgresProgram } from '../../test/services/support/required-programs.ts'
import { createKeyAndCsr, enrollHost } from '../../test/support/enrolled-host.ts'
import type { HubProcess } from '../../test/support/hub-process.ts'
import { waitUntil } from '../../test/support/processes.ts'
import { type ScriptedCa, startScriptedCa } from '../../test/support/scripted-ca.ts'
import { startSeveralHubs } from '../../test/support/several-hubs.ts'
import { openStream } from '../../test/support/stream-client.ts'
import { findTool } from '../../test/support/tools.ts'
import { post, type WireReply } from '../../test/support/wire-client.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { askOnce, CUT, OpenConnection, targetOf } from '../support/identities/identity-probe.ts'
import { pickOne } from '../support/pick.ts'

const HUBS = 3
const COUNTS = { small: { rounds: 4, revocations: 8 }, full: { rounds: 200, revocations: 500 } }
const USES = 64
/** From the answer to the revocation. */
const STREAM_MS_MAX = 1000
const ROUNDS_BETWEEN_PROGRESS = 50

export const severalHubs: ReliabilityRow = {
  name: 'several hubs',
  promise:
    'of 64 uses of one token at three hubs one succeeds, by one call to the CA; what one hub revokes the others refuse at once, and end its streams within a second',
  run: runRow,
}

async function runRow(context: RowContext): Promise<RowResult> {
  if (findTool(postgresProgram('postgres')) === undefined) {
    return { tried: 'nothing', broken: [], skipped: 'PostgreSQL is not installed' }
  }
  const { rounds, revocations } = COUNTS[context.setting]
  await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
  const environment = { SVC_LIMIT_ENROLL_FAILURES: '0' }
  const options = { caEnvironment: ca.environment, environment }
  await using hubs = await startSeveralHubs(HUBS, options)
  const broken: string[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const faults = await rush(hubs.all, ca, `herd-${round}.example`)
    broken.push(...faults.map((fault) => `round ${round}: ${fault}`))
    if (round % ROUNDS_BETWEEN_PROGRESS === 0) context.progress(`${round} of ${rounds} rounds`)
  }
  let longestMs = 0
  for (let count = 1; count <= revocations; count += 1) {
    const { faults, streamMs } = await revoke(hubs.all, `revoked-${count}.example`, context)
    broken.push(...faults)
    longestMs = Math.max(longestMs, streamMs)
    if (count % ROUNDS_BETWEEN_PROGRESS === 0) context.progress(`${count} revocations`)
  }
  return {
    tried: `${rounds} rounds of ${USES} enrolments with one token at ${HUBS} hubs, ${revocations} revocations at one hub of agents that ask the others`,
    broken,
    measured: `the last stream ended ${longestMs.toFixed(0)} ms after the answer to its revocation`,
  }
}

async function rush(
  hubs: readonly HubProcess[],
  ca: ScriptedCa,
  hostname: string,
): Promise<string[]> {
  const token = await at(hubs, 0).createToken({ hostname })
  const before = ca.hostCalls().length
  const uses = Array.from({ length: USES }, async (_, use): Promise<WireReply> => {
    const { csrPem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role: 'web', csr_pem: csrPem }
    return await post({ port: at(hubs, use).ports.enroll }, '/v1/enroll', body)
  })
  const replies = await Promise.all(uses)
  const calls = ca.hostCalls().length - before
  const succeeded = replies.filter(({ status }) => status === 200).length
  const refused = replies.filter(({ json }) => json['error'] === 'token_consumed').length
  return [
    ...(succeeded === 1 && refused === USES - 1
      ? []
      : [`${hostname}: ${succeeded} of ${USES} uses succeeded, ${refused} were token_consumed`]),
    ...(calls === 1 ? [] : [`${hostname}: ${calls} calls to the CA`]),
  ]
}

async function revoke(
  hubs: readonly HubProcess[],
  hostname: string,
  { random }: RowContext,
): Promise<{ readonly faults: string[]; readonly streamMs: number }> {
  const [here, ...others] = rotated(hubs, Math.floor(random() * hubs.length))
  const there = pickOne(random, others)
  if (here === undefined) throw new Error('there are several hubs')
  const host = await enrollHost(here, hostname)
  const csr = await createKeyAndCsr(hostname)
  const target = targetOf(there.ports.mtls, host)
  const open = await OpenConnection.open(target)
  const faults: string[] = []
  const first = await open.ask('manifest', csr)
  if (first !== '200') faults.push(`${hostname}: answered ${first} before it was revoked`)
  const stream = await openStream(target)
  await here.admin('POST', '/v1/admin/agentes/revoke', { agente: hostname })
  const revokedMs = performance.now()
  for (const [where, answer] of [
    ['an open connection', await open.ask('manifest', csr)],
    ['a new connection', await askOnce(target, 'events', csr)],
  ] as const) {
    const isRefused =
      answer === '401 agent_revoked' || (answer === CUT && where !== 'a new connection')
    if (!isRefused) faults.push(`${hostname}: answered ${answer} on ${where} after it was revoked`)
  }
  await waitUntil('the stream to end', () => stream.hasEnded() || undefined)
  const streamMs = performance.now() - revokedMs
  if (streamMs > STREAM_MS_MAX) faults.push(`${hostname}: its stream ended after ${streamMs} ms`)
  open.close()
  return { faults, streamMs }
}

function at(hubs: readonly HubProcess[], index: number): HubProcess {
  const [hub] = rotated(hubs, index % hubs.length)
  if (hub === undefined) throw new Error('there are several hubs')
  return hub
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  return [...items.slice(by), ...items.slice(0, by)]
}
