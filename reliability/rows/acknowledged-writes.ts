// kill -9 of the hub at random moments while several clients write: what it acknowledged is there, once.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/platform/clock.ts'
import { invariant } from '../../src/platform/errors.ts'
import type { Variables } from '../../test/support/processes.ts'
import { startScriptedCa } from '../../test/support/scripted-ca.ts'
import { createSeededRandom, type Random } from '../../test/simulation/seeded-random.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { findLostWrites, KnownLog } from '../support/check-writes.ts'
import { buildHubProgram } from '../support/hub-program.ts'
import { createHubVault, type HubVault, type LaunchedHub } from '../support/hub-vault.ts'
import { inLanes } from '../support/in-lanes.ts'
import { WriteJournal } from '../support/write-journal.ts'
import {
  enrolFirstHosts,
  finishWrites,
  loadUntilDead,
  type WriteLoadOptions,
} from '../support/write-load.ts'

const SIZES = {
  small: { vaults: 2, killsPerVault: 12 },
  full: { vaults: 10, killsPerVault: 100 },
} as const
/** While one hub boots, the other is written to. */
const LANES = 2
const FIRST_HOSTS = 3
const WRITES_BEFORE_KILL_MAX = 60
const WAIT_BEFORE_KILL_MS_MAX = 3
/** A hub that acknowledges nothing is killed as well. */
const LOAD_MS_MAX = 30_000
/** So many of the starts are killed as well, at a random moment. */
const BOOT_KILL_RATE = 0.1
const BOOT_MS = 600
const FAULTS_SHOWN = 5

/** The bounds that a client of this row would meet, since it is no fleet but a few hosts that write without a pause. */
const WITHOUT_RATES = {
  SVC_LIMIT_EVENTS: '0',
  SVC_LIMIT_EVENT_BYTES: '0',
  SVC_LIMIT_ENROLL_FAILURES: '0',
}

export const acknowledgedWrites: ReliabilityRow = {
  name: 'acknowledged-writes',
  promise: 'each acknowledged write survives kill -9, once, with a good chain',
  run: runRow,
}

async function runRow(context: RowContext): Promise<RowResult> {
  const { vaults, killsPerVault } = SIZES[context.setting]
  const program = await buildHubProgram(context.directory)
  await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
  const seeds = Array.from({ length: vaults }, () => Math.floor(context.random() * 2 ** 32))
  const stories = await inLanes({ times: vaults, lanes: LANES }, async (number) => {
    const directory = join(context.directory, `vault-${number}`)
    await mkdir(directory)
    const random = createSeededRandom(seeds[number] ?? 0)
    const options = { directory, program, caEnvironment: ca.environment, random, killsPerVault }
    const story = await killAgainAndAgain(options)
    context.progress(`vault ${number + 1} of ${vaults}: ${story.kills} kills`)
    return { ...story, broken: story.broken.map((fault) => `vault ${number}: ${fault}`) }
  })
  const sum = (count: (story: Story) => number): number =>
    stories.reduce((total, story) => total + count(story), 0)
  return {
    tried: `${sum(({ kills }) => kills)} kill -9 under load, ${sum(({ bootKills }) => bootKills)} during a start, ${sum(({ acknowledged }) => acknowledged)} acknowledged writes`,
    broken: stories.flatMap(({ broken }) => broken),
    measured: `${sum(({ unanswered }) => unanswered)} writes without an answer, ${sum(({ entries }) => entries)} entries in ${vaults} logs`,
  }
}

interface Story {
  readonly kills: number
  readonly bootKills: number
  readonly acknowledged: number
  readonly unanswered: number
  readonly entries: number
  readonly broken: readonly string[]
}

interface StoryOptions {
  readonly directory: string
  readonly program: string
  readonly caEnvironment: Variables
  readonly random: Random
  readonly killsPerVault: number
}

async function killAgainAndAgain(options: StoryOptions): Promise<Story> {
  const { random, killsPerVault } = options
  await using vault = await createHubVault({ ...options, environment: WITHOUT_RATES })
  const journal = new WriteJournal()
  const log = new KnownLog()
  const broken: string[] = []
  let bootKills = 0
  const check = async (load: WriteLoadOptions, moment: string): Promise<void> => {
    const faults = [...(await log.readOn(load.admin)), ...journal.surprises.splice(0)]
    faults.push(...(await findLostWrites(load.admin, journal, log)))
    broken.push(...faults.slice(0, FAULTS_SHOWN).map((fault) => `${moment}: ${fault}`))
  }

  let serving = await serve(vault, journal, random)
  await enrolFirstHosts(serving.load, FIRST_HOSTS)
  let kills = 0
  // Further kills would repeat what the first of them broke.
  while (kills < killsPerVault && broken.length === 0) {
    await killUnderLoad(serving, journal, random)
    kills += 1
    if (random() < BOOT_KILL_RATE) {
      bootKills += 1
      await killBoot(vault, random)
    }
    serving = await serve(vault, journal, random)
    await check(serving.load, `after kill ${kills}`)
  }
  await finishWrites(serving.load)
  await check(serving.load, 'at the end')
  // From the first entry on, by a reader that has seen no entry before.
  broken.push(...(await new KnownLog().readOn(serving.load.admin)))
  const { acknowledged, lost: unanswered } = journal
  return { kills, bootKills, acknowledged, unanswered, entries: log.count, broken }
}

interface Serving {
  readonly hub: LaunchedHub
  readonly load: WriteLoadOptions
  /** From now on answers may be missing. */
  announceDeath(): void
}

async function serve(vault: HubVault, journal: WriteJournal, random: Random): Promise<Serving> {
  const hub = vault.launch()
  const ports = await hub.ports()
  invariant(ports, `the hub did not start again: ${hub.running.stderr()}`)
  let isDead = false
  return {
    hub,
    load: { ports, admin: await vault.admin(), journal, random, isDead: () => isDead },
    announceDeath: () => {
      isDead = true
    },
  }
}

async function killUnderLoad(
  serving: Serving,
  journal: WriteJournal,
  random: Random,
): Promise<void> {
  const { hub, load } = serving
  const enough = journal.afterAcknowledged(1 + Math.floor(random() * WRITES_BEFORE_KILL_MAX))
  const loaded = loadUntilDead(load)
  const inTime = new AbortController()
  const late = systemClock.sleep(LOAD_MS_MAX, inTime.signal).catch(() => undefined)
  await Promise.race([enough, hub.running.ended, late])
  inTime.abort()
  await systemClock.sleep(random() * WAIT_BEFORE_KILL_MS_MAX)
  serving.announceDeath()
  await hub.kill()
  await loaded
}

async function killBoot(vault: HubVault, random: Random): Promise<void> {
  const hub = vault.launch()
  const waited = systemClock.sleep(random() * BOOT_MS)
  await Promise.race([waited, hub.running.ended])
  await hub.kill()
}
