import { systemClock } from '../platform/clock.ts'
import { runProgram } from '../platform/program.ts'
import type { CommandContext } from './command-context.ts'
import { Output } from './output.ts'
import { runSvc } from './program.ts'

// Loaded at first use: `svc --version` and mistakes in the arguments need no vault.
const loadControls = async () => {
  const { openVaultControls } = await import('./open-vault.ts')
  return openVaultControls(process.env, systemClock)
}

const context: CommandContext = {
  output: new Output(process.stdout),
  clock: systemClock,
  vault: {
    create: async () => (await loadControls()).create(),
    checkPassphrase: async () => (await loadControls()).checkPassphrase(),
  },
  withAdmin: async (work) => (await loadControls()).withAdmin(work),
}

await runProgram('svc', () => runSvc(process.argv.slice(2), context))
