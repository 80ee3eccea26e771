// Each call of a commit that can fail, made to fail: on a hub that goes on, and on one that is killed just after.

import { join } from 'node:path'
import { enrollHost, type EnrolledHost } from '../../../test/support/enrolled-host.ts'
import type { HubProcess } from '../../../test/support/hub-process.ts'
import { assertOk, send, type WireReply } from '../../../test/support/wire-client.ts'
import { commitKinds, type CommitKind } from './commit-attempt.ts'
import { attachStrace, describeFault, type Fault, FAULT_CALLS } from './strace.ts'

export interface CommitFaults {
  readonly hub: HubProcess
  readonly kinds: readonly CommitKind[]
  readonly broken: string[]
  /** Faults that the hub really met. */
  injected: number
  kills: number
}

const NTH_MAX = 500

export async function prepareCommitFaults(hub: HubProcess): Promise<CommitFaults> {
  const host = await enrollHost(hub, 'steady.example')
  await useIdentity(host)
  return { hub, kinds: commitKinds(hub, host), broken: [], injected: 0, kills: 0 }
}

/** From its first use on an identity is served without a write of its own. */
async function useIdentity(host: EnrolledHost): Promise<void> {
  assertOk(await send(host.mtls, { path: '/v1/manifest' }))
}

/** Every n of every call, until one is not reached any more. */
export async function failEveryCall(
  run: CommitFaults,
  kind: CommitKind,
  faultOf: (nth: number) => Pick<Fault, 'error' | 'isLasting'>,
  after: 'go on' | 'kill',
): Promise<void> {
  for (const call of FAULT_CALLS) {
    for (let nth = 1; nth < NTH_MAX; nth += 1) {
      if (!(await failOneCall(run, kind, { call, nth, ...faultOf(nth) }, after))) break
    }
  }
}

/** Whether the fault was met. */
export async function failOneCall(
  run: CommitFaults,
  kind: CommitKind,
  fault: Fault,
  after: 'go on' | 'kill',
): Promise<boolean> {
  const { hub } = run
  const breaks = (what: string): void => {
    run.broken.push(`${kind.name}, ${describeFault(fault)}, ${after}: ${what}`)
  }
  // Without a key a token that was consumed in vain would show; a killed hub may have done what it could not answer.
  const attempt = await kind.prepare({ isIdempotent: after === 'kill' })
  const tracer = await attachStrace(hub.pid, fault, join(hub.directory, 'strace.log'))
  const reply = await attempt.send().catch((error: unknown) => String(error))
  if (after === 'kill') await hub.stop('SIGKILL')
  const injected = (await tracer.detach()).length
  if (after === 'kill') await hub.start()
  run.injected += injected
  if (after === 'kill') run.kills += 1
  const verdict = judge(reply)
  if (verdict === undefined) breaks(`answered ${describeReply(reply)}`)
  if (verdict !== 'stored' && injected === 0) breaks('refused without a fault')

  const effects = await attempt.countEffects()
  const isOld = effects === 0 && verdict !== 'stored'
  // A killed hub's write may be in the log, though nobody was told so.
  const isNew = effects === 1 && (verdict === 'stored' || after === 'kill')
  if (!isOld && !isNew) breaks(`${verdict ?? 'lost'} and then in the log ${effects} times`)
  if (verdict !== 'stored') {
    const again = await attempt.send().catch((error: unknown) => String(error))
    if (judge(again) !== 'stored') breaks(`afterwards still ${describeReply(again)}`)
    const expected = attempt.isIdempotent ? 1 : effects + 1
    const counted = await attempt.countEffects()
    if (counted !== expected) breaks(`after a repetition in the log ${counted} times`)
  }
  return injected > 0
}

/** The chain as `svc` verifies it, on the hub that runs and after it was killed. */
export async function verifyLog(run: CommitFaults, when: string): Promise<void> {
  const { status, stderr } = await run.hub.svc('evento', 'list', '--verify', '--json')
  if (status !== 0) run.broken.push(`${when}: ${stderr.trim()}`)
}

/** Undefined for an answer that is neither. */
export function judge(reply: WireReply | string): 'stored' | 'refused' | undefined {
  if (typeof reply === 'string') return undefined
  if (reply.status === 200) return 'stored'
  const isClear = reply.status === 503 && reply.text === '{"error":"unavailable"}'
  return isClear && /^[1-9]\d*$/.test(reply.headers['retry-after'] ?? '') ? 'refused' : undefined
}

export function describeReply(reply: WireReply | string): string {
  return typeof reply === 'string' ? reply : `${reply.status} ${reply.text}`
}
