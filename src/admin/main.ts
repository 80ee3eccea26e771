import { isatty } from 'node:tty'
import { systemClock } from '../platform/clock.ts'
import { runProgram } from '../platform/program.ts'
import { askHiddenOn } from './ask-hidden.ts'
import type { CommandContext } from './command-context.ts'
import { Output } from './output.ts'
import { openProgress } from './progress.ts'
import { runSvc } from './program.ts'
import { KEEPER_COMMAND } from './sealed/keeper-command.ts'

const progress = openProgress(systemClock)
const isOnTerminal = isatty(process.stdin.fd) && isatty(process.stderr.fd)
const ask = isOnTerminal ? askHiddenOn(process.stdin, process.stderr) : undefined

// Loaded at first use: `svc --version` and mistakes in the arguments need no vault. One of them remembers the passphrase.
let controls: ReturnType<typeof openControls> | undefined
const loadControls = () => (controls ??= openControls())

const context: CommandContext = {
  output: new Output(process.stdout),
  clock: systemClock,
  progress,
  vault: {
    create: async () => (await loadControls()).create(),
    checkPassphrase: async () => (await loadControls()).checkPassphrase(),
  },
  openSecret: async (name) =>
    (await import('./sealed/secret-source.ts')).openSecret(name, process.stdin),
  openPins,
  withAdmin: async (work, options) => (await loadControls()).withAdmin(work, options),
}

void runProgram('svc', async () => {
  const [word, pinFile] = process.argv.slice(2)
  if (word === KEEPER_COMMAND && pinFile !== undefined) return keepPins(pinFile)
  try {
    await runSvc(process.argv.slice(2), context)
  } finally {
    progress.clear()
  }
})

async function openControls() {
  const { openVaultControls } = await import('./open-vault.ts')
  return openVaultControls({ env: process.env, clock: systemClock, progress, ask })
}

async function openPins() {
  const { openPins: open } = await import('./sealed/open-pins.ts')
  const [, script = ''] = process.argv
  const command = [process.execPath, ...process.execArgv, script]
  return open({
    env: process.env,
    clock: systemClock,
    command,
    isRoot: process.getuid?.() === 0,
  })
}

async function keepPins(path: string) {
  const { keepPins: keep } = await import('./sealed/pin-keeper.ts')
  await keep(process.stdin, path, systemClock)
}
