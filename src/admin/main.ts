import { isatty } from 'node:tty'
import { systemClock } from '../platform/clock.ts'
import { UserError } from '../platform/errors.ts'
import { runProgram } from '../platform/program.ts'
import { askHiddenOn } from './terminal/ask-hidden.ts'
import type { CommandContext } from './commands/command-context.ts'
import { findRemoteHub, type RemoteHub } from './doors/hub-options.ts'
import { Output } from './terminal/output.ts'
import { openProgress } from './terminal/progress.ts'
import { runSvc } from './commands/program.ts'
import { KEEPER_COMMAND } from './sealed/keeper-command.ts'

const progress = openProgress(systemClock)
const isOnTerminal = isatty(process.stdin.fd) && isatty(process.stderr.fd)
const ask = isOnTerminal ? askHiddenOn(process.stdin, process.stderr) : undefined

// Loaded at first use: `svc --version` and mistakes in the arguments need no vault. One of them remembers the passphrase.
let controls: ReturnType<typeof openControls> | undefined
const loadControls = () => (controls ??= openControls())

let remote: RemoteHub | undefined

const context: CommandContext = {
  output: new Output(process.stdout),
  clock: systemClock,
  progress,
  useHub: (options) => {
    remote = findRemoteHub(options, process.env)
  },
  vault: {
    create: async () => (await loadVaultControls()).create(),
    checkPassphrase: async () => (await loadVaultControls()).checkPassphrase(),
  },
  withAdmin: async (work, options) => {
    if (remote === undefined) return (await loadControls()).withAdmin(work, options)
    const { openRemoteHub } = await import('./doors/remote-hub.ts')
    return work(openRemoteHub(remote))
  },
  openSecret: async (name) =>
    (await import('./sealed/secret-source.ts')).openSecret(name, process.stdin),
  openPins,
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

async function loadVaultControls() {
  if (remote === undefined) return loadControls()
  throw new UserError('vault_elsewhere', 'this command works on the vault itself, not on a hub', {
    hint: 'leave out --hub and unset SVC_HUB, on the machine that has the vault',
  })
}

async function openControls() {
  const { openVaultControls } = await import('./doors/open-vault.ts')
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
