// A host is revoked at every point around what it may have under way: an enrolment, a renewal, a delivery, a recovery, and
// tokens that nobody has used. Afterwards nothing that was made before gets in, also after a crash, and also beside what is
// made afterwards, which does.

import { setImmediate as turn } from 'node:timers/promises'
import { invariant } from '../../src/platform/errors.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import { createGate, type ScriptedCa, startScriptedCa } from '../../test/support/scripted-ca.ts'
import { waitUntil } from '../../test/support/processes.ts'
import type { CaBehaviour } from '../../test/fakes/ca-server.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { buildHubProgram } from '../support/hub-program.ts'
import { createHubVault, type HubVault } from '../support/hub-vault.ts'
import type { Answer } from '../support/identities/identity-probe.ts'
import { pickInteger } from '../support/pick.ts'
import {
  type Doing,
  DOINGS,
  prepareEnrolment,
  type Preparation,
} from '../support/revocation/doings.ts'
import {
  findWaysIn,
  type Hub,
  isRefused,
  type MadeBefore,
} from '../support/revocation/made-before.ts'

/** How often each point around each thing. */
const TIMES = { small: 1, full: 60 } as const
const TURNS_MAX = 40
/** Nothing is refused here for coming too often. */
const ENVIRONMENT = {
  SVC_LIMIT_ENROLL_FAILURES: '0',
  SVC_LIMIT_ISSUE: '0',
  SVC_LIMIT_EVENTS: '0',
}

/** Where in it the host is revoked. */
const POINTS = [
  'before its request',
  'at the CA',
  'at the CA, and back before that answers',
  'as the CA answers',
  'after its answer',
] as const
type Point = (typeof POINTS)[number]

export const revocationIsFinal: ReliabilityRow = {
  name: 'revocation is final',
  promise: 'no token and no identity from before a revocation, at any point, brings the host back',
  run: runRow,
}

interface Scene {
  readonly hub: Hub
  readonly ca: ScriptedCa
  readonly random: Random
  /** What the CA waits for, by hostname. */
  readonly held: Map<string, Promise<void>>
}

async function runRow(context: RowContext): Promise<RowResult> {
  const { directory, random } = context
  const held = new Map<string, Promise<void>>()
  const behave = (hostname: string): CaBehaviour => {
    const released = held.get(hostname)
    return released === undefined ? { kind: 'sign' } : { kind: 'sign_after', released }
  }
  await using ca = await startScriptedCa(({ claims }) => behave(String(claims.sub)))
  const program = await buildHubProgram(directory)
  const caEnvironment = ca.environment
  const options = { directory, program, caEnvironment, environment: ENVIRONMENT }
  await using vault = await createHubVault(options)
  let { hub, kill } = await launch(vault)
  const broken: string[] = []
  const hosts: MadeBefore[] = []
  for (let time = 1; time <= TIMES[context.setting]; time += 1) {
    const ofThisTime: MadeBefore[] = []
    for (const [what, prepare] of Object.entries(DOINGS)) {
      for (const point of POINTS) {
        const made = { hostname: nameOf(hosts.length), identities: [], enrolments: [] }
        hosts.push(made)
        ofThisTime.push(made)
        const faults = await revokeAt({ hub, ca, random, held }, { prepare, point, made })
        broken.push(...faults.map((fault) => `${what}, revoked ${point}: ${fault}`))
      }
    }
    await kill()
    ;({ hub, kill } = await launch(vault))
    for (const made of ofThisTime) {
      const ways = await findWaysIn(hub, made, random)
      broken.push(...ways.map((way) => `after a kill -9: ${way}`))
    }
    context.progress(`${hosts.length} hosts revoked`)
  }
  const count = (pick: (made: MadeBefore) => readonly unknown[]): number =>
    hosts.reduce((sum, made) => sum + pick(made).length, 0)
  return {
    tried: `${hosts.length} hosts revoked at ${POINTS.length} points around ${Object.keys(DOINGS).length} things under way; ${count(({ enrolments }) => enrolments)} tokens and ${count(({ identities }) => identities)} identities from before the revocation, tried at once, after the host was back, and after a kill -9 of the hub`,
    broken,
  }
}

interface Revocation {
  readonly prepare: Preparation
  readonly point: Point
  readonly made: MadeBefore
}

async function revokeAt(scene: Scene, { prepare, point, made }: Revocation): Promise<string[]> {
  const { hub, random } = scene
  const { hostname } = made
  const first = await (await prepareEnrolment(hub, made, undefined))()
  invariant(first === '200', `${hostname} is enrolled: ${first}`)
  // Nobody has used it, and nobody will before the host is revoked.
  const unused = await prepareEnrolment(hub, made, undefined)
  const doing = await prepare(hub, made)
  const revoke = (): Promise<unknown> => hub.admin.revokeAgent({ agente: hostname })
  const faults: string[] = []
  const mustFail = async (answered: Promise<Answer>): Promise<void> => {
    const answer = await answered
    // A machine that stands still for long is the CA's deadline, and nobody's way in.
    if (!isRefused(answer) && !answer.startsWith('502 '))
      faults.push(`${hostname} was answered ${answer}`)
  }
  if (point === 'before its request') {
    await revoke()
    await mustFail(doing())
  } else if (point === 'after its answer') {
    await doing()
    await revoke()
  } else {
    const { answered, release } = await holdAtCa(scene, hostname, doing)
    if (point === 'as the CA answers') {
      await raceAgainst(scene, revoke, release)
      await answered
    } else {
      await revoke()
      if (point !== 'at the CA') faults.push(...(await comeBack(hub, hostname)))
      release()
      await mustFail(answered)
    }
  }
  await mustFail(unused())
  faults.push(...(await findWaysIn(hub, made, random)))
  // Once it is back by what is made now, what was made before is as good for nothing as it was.
  if (point !== 'at the CA, and back before that answers') {
    const { revoked_at: revokedAt } = await hub.admin.showAgent({ agente: hostname })
    if (revokedAt === null) faults.push(`${hostname} is revoked no more`)
    faults.push(...(await comeBack(hub, hostname)))
    faults.push(...(await findWaysIn(hub, made, random)))
  }
  return faults
}

async function comeBack(hub: Hub, hostname: string): Promise<string[]> {
  const made: MadeBefore = { hostname, identities: [], enrolments: [] }
  const answer = await (await prepareEnrolment(hub, made, undefined))()
  return answer === '200' ? [] : [`${hostname} did not come back by a new token: ${answer}`]
}

async function holdAtCa(
  { ca, held }: Scene,
  hostname: string,
  doing: Doing,
): Promise<{ readonly answered: Promise<Answer>; readonly release: () => void }> {
  const { opened, open } = createGate()
  held.set(hostname, opened)
  const callsBefore = ca.hostCalls().length
  const answered = doing()
  await waitUntil('the CA to be asked', () => ca.hostCalls().length > callsBefore || undefined)
  held.delete(hostname)
  return { answered, release: open }
}

/** Either may be first at the hub. */
async function raceAgainst(
  { random }: Scene,
  revoke: () => Promise<unknown>,
  release: () => void,
): Promise<void> {
  const isReleasedFirst = random() < 0.5
  const turns = pickInteger(random, 0, TURNS_MAX)
  const wait = async (): Promise<void> => {
    for (let count = 0; count < turns; count += 1) await turn()
  }
  if (isReleasedFirst) {
    release()
    await wait()
    await revoke()
    return
  }
  const revoked = revoke()
  await wait()
  release()
  await revoked
}

async function launch(vault: HubVault): Promise<{ hub: Hub; kill: () => Promise<void> }> {
  const launched = vault.launch()
  const ports = await launched.ports()
  invariant(ports, `the hub did not start: ${launched.running.stderr()}`)
  return { hub: { ports, admin: await vault.admin() }, kill: () => launched.kill() }
}

function nameOf(index: number): string {
  return `revoked-${index}.example`
}
