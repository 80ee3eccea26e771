// `npm run console:tabs`: what tabs of the console cost the agents of a hub. Hub, CA, agents and tabs are processes of their own; rounds with
// and without tabs take turns, so that what else the machine does falls on both.

import { execFile } from 'node:child_process'
import { homedir, loadavg, setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cpuSeconds } from '../../bench/daemon.ts'
import { buildLoadGenerator } from '../../bench/load-generator.ts'
import { medianOf } from '../../bench/ratio.ts'
import { parseCount } from '../../fleet/parse-count.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { runProgram } from '../../src/platform/program.ts'
import { packConsole } from '../build/console-bundle.ts'
import { placeConsole } from '../build/place-console.ts'
import { parseCommandOptions } from '../command-options.ts'
import { startTalkingProgram } from '../talking-program.ts'
import type { AskedRequest, PlainTab, TabsCommand, TabsCounts } from './tab-commands.ts'
import { startRealTabs } from './real-tabs.ts'
import { startTabsWorld, type TabsWorld } from './tabs-world.ts'

const PRESET = { hosts: 10_000, tabs: 50, agents: 64, rounds: 6, seconds: 15 }
const HINT = 'npm run console:tabs -- --help'
const HELP = `Usage: npm run console:tabs -- [options]

How long agents wait for their manifest, and what CPU the hub spends, with and without tabs of the console.

Options:
  --hosts N    in the vault (default: ${PRESET.hosts})
  --tabs N     three of which are Chromium (default: ${PRESET.tabs})
  --agents N   that ask twice a second each (default: ${PRESET.agents})
  --rounds N   each with and without tabs (default: ${PRESET.rounds})
  --seconds N  of each half of a round (default: ${PRESET.seconds})
  --real-time  hub and agents come before everything else on the machine, by chrt(1): for a machine that others use
  -h, --help   print this

Needs Go and Chromium. Agents and hub come before tabs where the machine is short of cores. --real-time needs root.

Example:
  npm run console:tabs -- --rounds 2 --seconds 10
`

/** The screens that people leave open. */
const SCREENS = ['/console/', '/console/hosts', '/console/audit'] as const
const POLLS_PER_SECOND = 2
/** Of which each has an entry every two seconds. */
const EVENT_AGENTS = 4
const EVENTS_PER_SECOND = 0.5
const SETTLE_MS = 3000
/** Among so many tabs a page asks some questions every fifteen seconds only. */
const WATCH_MS = 60_000
/** The least of all. */
const NICE = 19
const PLAIN_TABS = fileURLToPath(new URL('./plain-tabs.ts', import.meta.url))

interface Half {
  readonly p99Ms: number
  readonly maxMs: number
  readonly polls: number
  /** Of a core. */
  readonly cpuPercent: number
}

await runProgram('console:tabs', async () => {
  const options = parseOptions(process.argv.slice(2))
  if (options === undefined) return
  const { hosts, tabs, agents, rounds, seconds, isRealTime } = options
  await placeConsole(await packConsole())
  // tidy: where everything that is built once goes.
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const loadProgram = buildLoadGenerator(join(cache, 'cartorio', 'bench'))
  await using world = await startTabsWorld({
    hosts,
    agents,
    eventAgents: EVENT_AGENTS,
    loadProgram,
    progress: (text) => void process.stderr.write(`console:tabs: ${text}\n`),
  })
  if (isRealTime) await Promise.all([world.hub, world.polls, world.events].map(putFirst))
  setPriority(NICE)
  await using watchers = await startWatchers(world, tabs)
  const measured: { readonly alone: Half; readonly watched: Half }[] = []
  for (let round = 0; round < rounds; round += 1) {
    const measure = (): Promise<Half> => measureHalf(world, { agents, seconds })
    const measureWatched = async (): Promise<Half> => {
      await watchers.open()
      await systemClock.sleep(SETTLE_MS)
      const half = await measure()
      const counts = await watchers.close()
      say(
        `  tabs: ${counts.rings} rings, ${counts.answers} answers, ${counts.refused} refused, ${counts.failed} failed`,
      )
      return half
    }
    // Whatever changes slowly falls on both.
    const isAloneFirst = round % 2 === 0
    const first = isAloneFirst ? await measure() : await measureWatched()
    const second = isAloneFirst ? await measureWatched() : await measure()
    const [alone, watched] = isAloneFirst ? [first, second] : [second, first]
    measured.push({ alone, watched })
    say(
      `round ${round + 1}: alone ${describe(alone)}; with ${tabs} tabs ${describe(watched)}; load ${loadavg()[0]?.toFixed(1)}`,
    )
  }
  const median = (of: (round: (typeof measured)[number]) => number): number =>
    medianOf(measured.map(of))
  const p99Alone = median(({ alone }) => alone.p99Ms)
  const p99Watched = median(({ watched }) => watched.p99Ms)
  const ratio = median(({ alone, watched }) => watched.p99Ms / alone.p99Ms)
  say(
    `medians of ${rounds}: p99 ${p99Alone.toFixed(2)} ms alone, ${p99Watched.toFixed(2)} ms with ${tabs} tabs (${percent(p99Watched / p99Alone)}; by round ${percent(ratio)}); hub ${median(({ alone }) => alone.cpuPercent).toFixed(1)} % of a core alone, ${median(({ watched }) => watched.cpuPercent).toFixed(1)} % with tabs`,
  )
})

/** All its threads: what else runs on the machine gets the cores that they leave. */
async function putFirst({ pid }: { readonly pid: number }): Promise<void> {
  await promisify(execFile)('chrt', ['--all-tasks', '--rr', '--pid', '1', String(pid)])
}

type Options = typeof PRESET & { readonly isRealTime: boolean }

function parseOptions(args: readonly string[]): Options | undefined {
  const text = { type: 'string' } as const
  const values = parseCommandOptions({
    name: 'console:tabs',
    args,
    options: {
      hosts: text,
      tabs: text,
      agents: text,
      rounds: text,
      seconds: text,
      'real-time': { type: 'boolean', default: false },
    },
    help: HELP,
  })
  if (values === undefined) return undefined
  const count = (name: keyof typeof PRESET): number =>
    parseCount(name, values[name], PRESET[name], HINT)
  return {
    hosts: count('hosts'),
    tabs: count('tabs'),
    agents: count('agents'),
    rounds: count('rounds'),
    seconds: count('seconds'),
    isRealTime: values['real-time'],
  }
}

async function measureHalf(
  { hub, polls, events }: TabsWorld,
  { agents, seconds }: { readonly agents: number; readonly seconds: number },
): Promise<Half> {
  // Connections are open before anything is counted.
  const address = `127.0.0.1:${hub.portOf('mtls listening')}`
  await polls.send({ do: 'ready', name: 'kept', clients: agents, address })
  await events.send({ do: 'ready', name: 'events', clients: EVENT_AGENTS })
  const before = await cpuSeconds(hub.pid)
  const [ran] = await Promise.all([
    polls.send({ do: 'run', seconds, per_second: POLLS_PER_SECOND }),
    events.send({ do: 'run', seconds, per_second: EVENTS_PER_SECOND }),
  ])
  const spent = (await cpuSeconds(hub.pid)) - before
  const {
    count,
    p99_ms: p99Ms,
    max_ms: maxMs,
  } = ran as Record<'count' | 'p99_ms' | 'max_ms', number>
  return { p99Ms, maxMs, polls: count, cpuPercent: (100 * spent) / seconds }
}

interface Watchers extends AsyncDisposable {
  open(): Promise<void>
  close(): Promise<TabsCounts>
}

/** Three tabs of Chromium, and others that ask what these were seen to ask. */
async function startWatchers(world: TabsWorld, tabs: number): Promise<Watchers> {
  await using opened = new AsyncDisposableStack()
  const { url } = world
  const real = opened.use(await startRealTabs(url, SCREENS, world.makeCode))
  const plain = opened.use(startTalkingProgram('the tabs', [process.execPath, PLAIN_TABS]))
  const ask = (command: TabsCommand): Promise<unknown> => plain.ask(command)
  const plainTabs: PlainTab[] = []
  for (let tab = 0; tab < tabs - SCREENS.length; tab += 1) {
    const code = await world.makeCode(`plain-${tab}`)
    const { headers } = (await ask({ do: 'sign-in', url, code })) as Pick<PlainTab, 'headers'>
    plainTabs.push({ headers, asks: [] })
  }
  // How often a page asks is by how many are open: they hold their streams while it is watched.
  await ask({ do: 'open', url, tabs: plainTabs })
  await real.open()
  await world.events.send({ do: 'ready', name: 'events', clients: EVENT_AGENTS })
  const [asked] = await Promise.all([
    real.watch(WATCH_MS),
    world.events.send({
      do: 'run',
      seconds: WATCH_MS / 1000,
      per_second: EVENTS_PER_SECOND,
    }),
  ])
  for (const [at, screen] of SCREENS.entries()) say(describeAsked(screen, asked[at] ?? []))
  const askingTabs = plainTabs.map((tab, at) => ({
    ...tab,
    asks: asked[at % SCREENS.length] ?? [],
  }))
  await Promise.all([real.close(), ask({ do: 'close' })])
  const kept = opened.move()
  return {
    open: async () => {
      await real.open()
      await ask({ do: 'open', url, tabs: askingTabs })
    },
    close: async () => {
      await real.close()
      return (await ask({ do: 'close' })) as TabsCounts
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function describeAsked(screen: string, asked: readonly AskedRequest[]): string {
  const requests = asked.map(
    ({ method, path, everyMs }) => `${method} ${path} every ${(everyMs / 1000).toFixed(1)} s`,
  )
  return `${screen} asks ${requests.join(', ')}`
}

function describe({ p99Ms, maxMs, polls, cpuPercent }: Half): string {
  return `p99 ${p99Ms.toFixed(2)} ms, most ${maxMs.toFixed(1)} ms of ${polls}, hub ${cpuPercent.toFixed(1)} %`
}

function percent(ratio: number): string {
  return `${ratio >= 1 ? '+' : ''}${(100 * (ratio - 1)).toFixed(1)} %`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
