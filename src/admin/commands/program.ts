// The command tree of svc. Each command says its options and help here, and loads what it works with when it runs.

import { Command, CommanderError } from 'commander'
import { addCompletionCommand } from '../../completion/completion.ts'
import { UserError } from '../../platform/errors.ts'
import { readVersion } from '../../platform/version.ts'
import { HUB_SETTINGS } from '../../protocol/hub-settings.ts'
import { namesIn, stateIn, toWireValue } from '../../protocol/spoken-words.ts'
import { registerBackup } from './backup/backup.ts'
import { registerRestore } from './backup/restore.ts'
import { registerCheckpoint } from './checkpoint.ts'
import type { CommandContext, CommandUse } from './command-context.ts'
import {
  addDryRunOptions,
  type DryRunOptions,
  printRehearsal,
  Rehearsed,
  rehearsing,
} from './dry-run.ts'
import { DOCTOR, registerDoctor } from './doctor.ts'
import { registerSignIn, signsIn } from './login/register-sign-in.ts'
import { registerEvidence } from './evidence/evidence.ts'
import { registerApply } from './fleet/apply.ts'
import { registerExport } from './fleet/export.ts'
import { registerPlan } from './fleet/plan.ts'
import { registerFreeze } from './freeze.ts'
import { registerInit } from './init.ts'
import { registerJoin } from './join.ts'
import { namingNear } from './name-near.ts'
import { registerSearch } from './search.ts'
import { registerStatus } from './status.ts'
import { registerUnseal } from './unseal.ts'
import { NOUNS } from './nouns.ts'

const PROGRAM_HELP = `
The vault is SVC_VAULT_ROOT (default /var/lib/svc). While a hub runs, commands go through its admin socket in that
directory; otherwise svc opens the vault itself, with the passphrase of SVC_MASTER_PASSPHRASE or of the file that
SVC_MASTER_PASSPHRASE_FILE names.

With --hub, commands go to the admin port of a hub anywhere: with the admin token of --token-file, else of SVC_HUB_TOKEN_FILE,
a file that only its user can read, else with the login that svc login made at that hub. init and unseal work on the vault itself.

Commands, options and values have Portuguese words too, which svc always takes: svc carga create --tipo selado --nome x. With
SVC_LANG=pt it also prints the Portuguese headings and states.

Examples:
  svc init
  svc token create --hostname web-1.example.org --role web
  svc load create --type csr_cert --name site --agent web-1.example.org
  svc event list --verify
  svc doctor
  svc login --hub https://hub.example.org:8445 --hub-ca ca.crt
  svc --hub https://hub.example.org:8445 agent list
  svc --hub https://hub.example.org:8445 --token-file ~/.svc-token --hub-ca ca.crt agent list
`

/** `help token create` as `token create --help`: commander's own command looks at one word. */
function askingHelp(args: readonly string[]): string[] {
  const [first, ...words] = args
  return first === 'help' && words.length > 1 ? [...words, '--help'] : [...args]
}

/** Parses the arguments and runs the command that they name; mistakes in them are UserErrors. */
export async function runCommandLine(
  args: readonly string[],
  context: CommandContext,
): Promise<void> {
  let help = ''
  let asked: DryRunOptions = {}
  const withAdmin: CommandContext['withAdmin'] = (work, options) =>
    context.withAdmin(
      (session) => work(namingNear(asked.dryRun === true ? rehearsing(session) : session)),
      options,
    )
  const program = buildProgram({ ...context, withAdmin }, (text) => {
    help += text
  }).hook('preAction', (_program, command) => {
    asked = command.opts()
  })
  try {
    await program.parseAsync(askingHelp(args), { from: 'user' })
  } catch (error) {
    if (error instanceof Rehearsed) {
      return printRehearsal(context.output, error.answer, asked.json === true)
    }
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw toUserError(error, pathOfCommand(program, args))
    await context.output.write(help)
  }
}

/** Help and version go to `writeHelp`. */
export function buildProgram(context: CommandContext, writeHelp: (text: string) => void): Command {
  const { output } = context
  const program = new Command('svc')
    .description('The admin CLI of the Cartorio hub')
    .version(readVersion())
    .exitOverride()
    // Mistakes are reported by the edge of the program, in the form that all failures have.
    .configureOutput({
      writeOut: writeHelp,
      writeErr: () => undefined,
      getOutHelpWidth: () => output.columns,
    })
    .option('--config <file>', `settings, in place of ${HUB_SETTINGS.path}`)
    .option('--hub <url>', 'the admin port of a hub on another machine (SVC_HUB)')
    .option(
      '--token-file <file>',
      'the file with the admin token for that hub (SVC_HUB_TOKEN_FILE)',
    )
    .option('--hub-ca <file>', 'PEM file of the root by which svc trusts that hub (SVC_HUB_CA)')
    .hook('preAction', (command, action) =>
      context.useOptions(command.opts(), useOf(action.name())),
    )
    .addHelpText('after', PROGRAM_HELP)
  registerInit(program, context)
  registerUnseal(program, context)
  registerCheckpoint(program, context)
  registerEvidence(program, context)
  registerStatus(program, context)
  registerBackup(program, context)
  registerRestore(program, context)
  registerJoin(program, context)
  registerDoctor(program, context)
  registerPlan(program, context)
  registerApply(program, context)
  registerExport(program, context)
  registerFreeze(program, context)
  registerSearch(program, context)
  registerSignIn(program, context)
  addCompletionCommand(
    program,
    (text) => output.write(text),
    () => ({
      names: (words) => namesIn(output.language, words),
      values: (words) => words.map((word) => stateIn(output.language, toWireValue(word))),
    }),
  )
  for (const { name, alias, description, commands } of NOUNS) {
    const noun = program.command(name).description(description)
    if (alias !== undefined) noun.alias(alias)
    for (const register of commands) register(noun, context)
    addDryRunOptions(noun)
  }
  return program
}

function useOf(command: string): CommandUse {
  if (signsIn(command)) return 'signs_in'
  return command === DOCTOR ? 'examines' : 'works'
}

/** The words of the deepest command that the arguments name: `svc token create`. */
function pathOfCommand(program: Command, args: readonly string[]): string {
  const path = ['svc']
  let command = program
  for (const word of args) {
    const next = command.commands.find(
      (candidate) => candidate.name() === word || candidate.aliases().includes(word),
    )
    if (next === undefined) break
    path.push(word)
    command = next
  }
  return path.join(' ')
}

function toUserError(error: CommanderError, path: string): UserError {
  const shows = `${path} --help shows how`
  if (error.code === 'commander.help') {
    return new UserError('usage', `${path} needs a command`, { hint: shows })
  }
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  const guess = suggestion?.replace(/^\((.*)\)$/, '$1').replace(/^Did/, 'did')
  return new UserError('usage', message.replace(/\.$/, ''), { hint: guess ?? shows })
}
