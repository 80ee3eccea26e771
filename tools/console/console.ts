// `npm run console`: for those who work on the console. A hub with a fleet in trouble, and a page that shows what was saved a moment ago.

import { watch } from 'node:fs/promises'
import { resolve } from 'node:path'
import { randomInt } from 'node:crypto'
import { systemClock } from '../../src/platform/clock.ts'
import { describeError, UserError } from '../../src/platform/errors.ts'
import { runProgram } from '../../src/platform/program.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { type ConsoleBuilder, CONSOLE_SOURCE, openConsoleBuilder } from '../build/console-bundle.ts'
import { placeConsole } from '../build/place-console.ts'
import { parseCommandOptions } from '../command-options.ts'
import { parseCount } from '../../fleet/parse-count.ts'
import { canListen } from './can-listen.ts'
import { startSeededHub } from './seeded-hub.ts'

const HOSTS = 10_000
const HOSTS_MIN = 100
const HOSTS_MAX = 100_000
const PORT = 8445
const HINT = 'npm run console -- --help'
const SETTLE_MS = 20
const HELP = `Usage: npm run console -- [options]

A hub of 127.0.0.1 with a fleet in trouble, and its console: a page that loads itself again when something below src/console is saved.

Options:
  --hosts N    from ${HOSTS_MIN} to ${HOSTS_MAX} (default: ${HOSTS})
  --seed N     the same seed makes the same fleet (default: by chance, and printed)
  --hostile    200 hosts have hostile names, and hostile texts stand wherever free text may
  --port N     of the console (default: ${PORT}, or a free one where that is taken)
  --vault DIR  keep vault and CA there, and use them again when they are there
  -h, --help   print this

Ctrl-C ends it, and removes all but DIR. As time passes more of the fleet is late: nobody renews anything.

Examples:
  npm run console
  npm run console -- --hosts 100 --hostile --seed 7
`

await runProgram('console', async () => {
  const options = await parseOptions(process.argv.slice(2))
  if (options === undefined) return
  await using opened = new AsyncDisposableStack()
  const builder = await openConsoleBuilder()
  opened.defer(() => builder.dispose())
  await placeConsole(await builder.build())
  say(`seed ${options.seed}`)
  const hub = opened.use(await startSeededHub({ ...options, clock: systemClock, progress: say }))
  const link = await hub.makeLink({
    name: 'console',
    role: 'admin',
    ttl_seconds: 12 * 3600,
    valid_seconds: 600,
  })
  const interrupted = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort())
  process.stdout.write(`
console   ${hub.url}/console/
sign in   ${link}
          (works once, for ten minutes)
root      ${hub.rootPath}, for a browser that shall trust the page
log       ${hub.logPath}

Ctrl-C ends it.
`)
  await rebuildUntil(interrupted.signal, builder)
})

/** Builds when something was saved, one build after the other, until somebody ends it. */
async function rebuildUntil(signal: AbortSignal, builder: ConsoleBuilder): Promise<void> {
  const saved = watch(CONSOLE_SOURCE, { recursive: true, signal })
  try {
    for await (const { filename } of saved) {
      // An editor writes a file in several steps.
      await systemClock.sleep(SETTLE_MS)
      await rebuild(builder, filename ?? '')
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** What is shown stays when the source has a fault. */
async function rebuild(builder: ConsoleBuilder, name: string): Promise<void> {
  const startedMs = performance.now()
  try {
    await placeConsole(await builder.build())
    say(`${name}: built in ${Math.round(performance.now() - startedMs)} ms`)
  } catch (error) {
    say(`${name}: not built: ${describeError(error)}`)
  }
}

interface Options {
  readonly hosts: number
  readonly seed: number
  readonly isHostile: boolean
  readonly port: number
  readonly keptDirectory: string | undefined
}

/** Undefined when help was all that was asked for. */
async function parseOptions(args: readonly string[]): Promise<Options | undefined> {
  const values = parseCommandOptions({
    name: 'console',
    args,
    options: {
      hosts: { type: 'string' },
      seed: { type: 'string' },
      hostile: { type: 'boolean', default: false },
      port: { type: 'string' },
      vault: { type: 'string' },
    },
    help: HELP,
  })
  if (values === undefined) return undefined
  const hosts = parseCount('hosts', values.hosts, HOSTS, HINT)
  if (hosts < HOSTS_MIN || hosts > HOSTS_MAX) {
    throw new UserError('usage', `--hosts is from ${HOSTS_MIN} to ${HOSTS_MAX}`, { hint: HINT })
  }
  const preset = (await canListen(PORT)) ? PORT : await findFreePort()
  return {
    hosts,
    seed: parseCount('seed', values.seed, randomInt(1, 1_000_000), HINT),
    isHostile: values.hostile,
    port: parseCount('port', values.port, preset, HINT),
    keptDirectory: values.vault === undefined ? undefined : resolve(values.vault),
  }
}

function say(text: string): void {
  process.stderr.write(`console: ${text}\n`)
}
