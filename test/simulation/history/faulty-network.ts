// Between an agent and its hub: requests and replies are lost, doubled and late, and connections are cut.

import { HubUnreachableError } from '../../../src/agent/hub/request.ts'
import { refusalOf } from '../../../src/hub/http/error-response.ts'
import { type Exchange, inWholeSeconds, type Reply } from '../simulated-connections.ts'
import type { HubsControl } from '../../../src/hub/service/admin/manage-hubs.ts'
import type { BackupMaker } from '../../../src/hub/backup/make-backup.ts'
import type { RunningHub } from '../simulated-hub.ts'
import type { Faults } from './faults.ts'
import type { HeldStreams } from './held-streams.ts'
import type { Kernel, Program } from './kernel.ts'

export interface HubInPlace {
  readonly program: Program
  readonly hub: RunningHub
  readonly backups: BackupMaker
  /** Of one of several. */
  readonly hubs: HubsControl | undefined
  /** Undefined where nobody holds a stream. */
  readonly streams: HeldStreams | undefined
}

export interface NetworkOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  /** Undefined while none answers. */
  readonly findHub: () => HubInPlace | undefined
  readonly note: (text: string) => void
}

const LATENCY_MS_MAX = 200
const DELAY_MS_MAX = 40_000
/** As the agent's own. */
const TIMEOUT_MS = 15_000

type Answer = { readonly reply: Reply; readonly hubTime: Date }

/** The way to the hub of the program of one agent. */
export function createFaultyExchange(options: NetworkOptions, agent: Program): Exchange {
  const { kernel, faults, note } = options
  return (route, serve) =>
    new Promise((resolve, reject) => {
      const end = (text: string, settle: () => void): void => {
        if (isOver) return
        isOver = true
        stopWaiting()
        if (agent.isAlive) note(`${agent.name} ${route}: ${text}`)
        agent.post(settle)
      }
      const fail = (why: string): void => end(why, () => reject(new HubUnreachableError(why)))
      const answer = (value: Answer): void =>
        end(value.reply.ok ? 'ok' : value.reply.refusal, () => resolve(value))
      let isOver = false
      const stopWaiting = kernel.addTimer(TIMEOUT_MS, agent, () => fail('no answer in time'))
      if (faults.happens('request lost')) return
      const copies = faults.happens('request duplicated') ? 2 : 1
      for (let copy = 0; copy < copies; copy += 1) {
        kernel.after(transitMs(options, 'request delayed'), () =>
          arrive(options, serve, { answer, fail }),
        )
      }
    })
}

function arrive(
  { kernel, faults, findHub }: NetworkOptions,
  serve: (hub: RunningHub) => Promise<Reply>,
  {
    answer,
    fail,
  }: { answer(this: void, value: Answer): void; fail(this: void, why: string): void },
): void {
  const place = findHub()
  if (place === undefined || faults.happens('connection refused')) {
    fail('connection refused')
    return
  }
  const { program, hub } = place
  let isSent = false
  program.onDeath(() => {
    if (!isSent) fail('connection cut')
  })
  if (faults.happens('connection cut after the request')) fail('connection cut')
  program.post(() => {
    const work = async (): Promise<void> => {
      const reply = await serveSafely(hub, serve)
      // Committed is not answered yet.
      await program.step(() => undefined)
      isSent = true
      if (reply instanceof HubUnreachableError) {
        fail(reply.message)
        return
      }
      const hubTime = inWholeSeconds(program.clock.now())
      if (faults.happens('reply lost')) return
      kernel.after(transitMs({ kernel, faults }, 'reply delayed'), () => answer({ reply, hubTime }))
    }
    program.run(work).catch((error: unknown) => {
      // What a dead program still does is nobody's business.
      if (program.isAlive) kernel.fail(error)
    })
  })
}

/** What the hub's ports make of what its services throw; a fault of the hub's own ends the history. */
async function serveSafely(
  hub: RunningHub,
  serve: (hub: RunningHub) => Promise<Reply>,
): Promise<Reply | HubUnreachableError> {
  try {
    return await serve(hub)
  } catch (error) {
    if (error instanceof HubUnreachableError) return error
    const refusal = refusalOf(error)
    if (refusal === 'internal_error') throw error
    return { ok: false, refusal }
  }
}

function transitMs(
  { kernel, faults }: Pick<NetworkOptions, 'kernel' | 'faults'>,
  delay: 'request delayed' | 'reply delayed',
): number {
  const { random } = kernel
  return random() * (faults.happens(delay) ? DELAY_MS_MAX : LATENCY_MS_MAX)
}
