// A hub and its standby under load: the hub is killed, the standby promoted, the old hub started again, and made the standby of the new one;
// many times, then the judgement.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildHubProgram } from '../../reliability/support/hub-program.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createSeededRandom } from '../simulation/seeded-random.ts'
import { waitUntil } from '../support/processes.ts'
import { startScriptedCa } from '../support/scripted-ca.ts'
import { type Machine, makeStandbyPair } from '../support/standby-pair.ts'
import { Clients } from './clients.ts'
import { judge, type Judgement, readWhatIsLeft } from './judgement.ts'
import { startLoad, WITHOUT_RATES } from './load.ts'
import type { Entry } from './operation.ts'
import type { SharedHub } from './shared-hubs.ts'

export interface PromotionsOptions {
  readonly times: number
  readonly seed: number
  /** Between a standby that has everything and the kill, at most. */
  readonly loadMs: number
  /** `preferred`: the standby is away for a while before each kill, and lacks what the hub acknowledged meanwhile. */
  readonly mode?: 'preferred'
  progress(this: void, text: string): void
}

export interface PromotionsTrial extends Judgement {
  /** From the kill to the first write that the promoted hub acknowledged. */
  readonly outagesMs: readonly number[]
}

const WAIT_MS_MAX = 60_000
/** Of the standbys, so many are killed and started again before their hub is. */
const STANDBYS_KILLED = 0.25

export async function tryPromotions(options: PromotionsOptions): Promise<PromotionsTrial> {
  await using stack = new AsyncDisposableStack()
  const random = createSeededRandom(options.seed)
  const directory = await mkdtemp(join(tmpdir(), 'promotions-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const program = await buildHubProgram(directory)
  const ca = stack.use(await startScriptedCa(() => ({ kind: 'sign' })))
  const pair = stack.use(
    await makeStandbyPair({
      caEnvironment: ca.environment,
      environment: { ...WITHOUT_RATES, SVC_STANDBY: options.mode ?? 'required' },
      program,
    }),
  )
  let [hub, standby]: readonly [Machine, Machine] = pair.machines
  await standby.start('standby')
  await hub.start('hub')
  await together(hub)
  const clients = new Clients([logicalHub(() => hub)], random)
  const load = await startLoad(clients)
  // Also when something goes wrong here.
  stack.defer(() => load.stop())
  const surprises: string[] = []
  const outagesMs: number[] = []
  for (let time = 1; time <= options.times; time += 1) {
    await systemClock.sleep(options.loadMs * random())
    if (random() < STANDBYS_KILLED) await restartStandby(hub, standby)
    if (options.mode === 'preferred') await leaveAlone(standby, options.loadMs)
    const killedMs = clients.nowMs()
    await hub.stop('SIGKILL')
    if (standby.hasEnded()) await standby.start('standby')
    await promote(standby)
    await standby.becameHub()
    const old = hub
    ;[hub, standby] = [standby, old]
    await waitUntil('a write', () => clients.hasWrittenSince(killedMs) || undefined, WAIT_MS_MAX)
    outagesMs.push(clients.nowMs() - killedMs)
    surprises.push(...(await resurrect(old)))
    await standby.becomeStandbyOf(hub)
    await standby.start('standby')
    await together(hub)
    options.progress(`${time} of ${options.times}: ${Math.round(outagesMs.at(-1) ?? 0)} ms`)
  }
  await load.stop()
  options.progress('comparing')
  // What the standby has, and nothing else, is what is left.
  await hub.stop('SIGKILL')
  await promote(standby)
  await standby.becameHub()
  const left = await readWhatIsLeft(async (...questions) => {
    const answers: unknown[] = []
    for (const question of questions) answers.push(await read(standby, question))
    return answers
  })
  const ofKilled = (await read(hub, ['evento', 'list', '--json'])) as { eventos: readonly Entry[] }
  const state = { ...left, logsOfHubs: [ofKilled.eventos] }
  return { outagesMs, ...judge(clients, state, surprises) }
}

/** Whichever machine it is. */
function logicalHub(current: () => Machine): SharedHub {
  return {
    get vaultRoot() {
      return current().vaultRoot
    },
    get directory() {
      return current().directory
    },
    get environment() {
      return current().environment
    },
    get ports() {
      return current().ports
    },
    admin: (method, path, body) => current().admin(method, path, body),
    createToken: (request) => current().createToken(request),
    logText: () => current().logText(),
    hasEnded: () => current().hasEnded(),
    start: () => current().start('hub'),
    kill: async () => void (await current().stop('SIGKILL')),
  }
}

async function restartStandby(hub: Machine, standby: Machine): Promise<void> {
  await standby.stop('SIGKILL')
  await standby.start('standby')
  await together(hub)
}

/** For as long as it takes to write something. */
async function leaveAlone(standby: Machine, loadMs: number): Promise<void> {
  await standby.stop('SIGKILL')
  await systemClock.sleep(loadMs)
}

async function promote(standby: Machine): Promise<void> {
  await waitUntil(
    'the promotion',
    async () => {
      const { status, stderr } = await standby.svc('standby', 'promote')
      if (status === 0) return true
      if (stderr.includes('the hub is connected')) return undefined
      throw new Error(stderr)
    },
    WAIT_MS_MAX,
  )
}

async function together(hub: Machine): Promise<void> {
  await waitUntil(
    'a standby that has everything',
    async () => {
      const { stdout } = await hub.svc('standby', 'status', '--json')
      return stdout.includes('"together"') || undefined
    },
    WAIT_MS_MAX,
  )
}

/** The old hub, with all that it had. */
async function resurrect(old: Machine): Promise<readonly string[]> {
  try {
    await old.start('hub')
    await old.stop('SIGKILL')
    return ['an old hub listened']
  } catch (error) {
    const text = String(error)
    if (text.includes('the standby was promoted: it is the hub now')) return []
    return [`an old hub ended otherwise: ${text.slice(-500)}`]
  }
}

async function read(machine: Machine, words: readonly string[]): Promise<unknown> {
  const { status, stdout, stderr } = await machine.svc(...words)
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}
