// What ends in a certificate, against what step-ca spends on a certificate that it is asked for directly. The hub's own CPU alone is
// divided by that: the CA's share behind the hub comes on top, and stands in the note.

import { type Row, type Scene } from './row.ts'
import { cpuMsEach, type Rounds, type Side } from './rounds.ts'
import { medianOf } from './ratio.ts'
import type { World } from './world.ts'

const SIGN = 'step-ca /1.0/sign'
const CLIENTS = 16
/** Of the hub's CPU time: beyond that a round ends earlier. */
const ENROLMENTS_PER_SECOND = 900

export const CA_ROWS: readonly Row[] = [
  {
    name: 'issue',
    start: async (world, seconds) => {
      await world.load.send({ do: 'enroll-agents', count: CLIENTS })
      return {
        ...besideSign(world, 'issue', seconds),
        figures: [{ what: 'certs/issue, 16 agents', by: SIGN, aim: { atMost: 0.7 } }],
      }
    },
  },
  {
    name: 'enroll',
    start: async (world, seconds) => {
      const count = CLIENTS + Math.ceil(seconds * ENROLMENTS_PER_SECOND)
      return {
        ...besideSign(world, 'enroll', seconds, () => world.load.send({ do: 'prepare', count })),
        figures: [
          { what: 'enrolment, 16 clients', by: SIGN, aim: { atMost: 0.9 } },
          { what: 'enrolments/s', by: SIGN, isRate: true, aim: { atLeast: 0.5 } },
        ],
      }
    },
  },
  {
    name: 'recover',
    start: async (world, seconds) => {
      await world.load.send({ do: 'enroll-agents', count: CLIENTS })
      return {
        ...besideSign(world, 'recover', seconds),
        figures: [{ what: 'recovery of an identity, 16 agents', by: SIGN }],
      }
    },
  },
]

function besideSign(
  { load, hub, caPid }: World,
  workload: string,
  seconds: number,
  prepare?: () => Promise<unknown>,
): Omit<Scene, 'figures'> {
  const subject: Side = {
    name: 'hub',
    ...(prepare && { prepare }),
    measure: () => load.measure(workload, { seconds, pids: [hub.pid, caPid] }),
  }
  const sign: Side = {
    name: SIGN,
    measure: () => load.measure('sign', { seconds, pids: [caPid] }),
  }
  return { sides: [subject, sign], describe: describeCa, [Symbol.asyncDispose]: async () => {} }
}

async function describeCa({ samples }: Rounds): Promise<string> {
  const behind = medianOf((samples[0] ?? []).map((sample) => cpuMsEach(sample, 1)))
  return `step-ca behind it ${behind.toFixed(2)} ms`
}
