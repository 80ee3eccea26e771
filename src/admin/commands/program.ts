// The command tree of svc. Each command says its options and help here, and loads what it works with when it runs.

import { Command, CommanderError } from 'commander'
import { addCompletionCommand } from '../../completion/completion.ts'
import { UserError } from '../../platform/errors.ts'
import { readVersion } from '../../platform/version.ts'
import { HUB_SETTINGS } from '../../protocol/hub-settings.ts'
import { COMMAND_WORDS, namesIn, stateIn, toWireValue } from '../../protocol/spoken-words.ts'
import { registerAdminPasskey } from './admin-passkey.ts'
import { registerAdminSession } from './admin-session.ts'
import { registerAdminToken } from './admin-token.ts'
import { registerAgenteLabel } from './agente/agente-label.ts'
import { registerAgenteList } from './agente/agente-list.ts'
import { registerAgentePush } from './agente/agente-push.ts'
import { registerAgenteRemove } from './agente/agente-remove.ts'
import { registerAgenteRevocations } from './agente/agente-revocations.ts'
import { registerAgenteRevoke } from './agente/agente-revoke.ts'
import { registerAgenteRotate } from './agente/agente-rotate.ts'
import { registerAgenteShow } from './agente/agente-show.ts'
import { registerAgenteSync } from './agente/agente-sync.ts'
import { registerAgenteUpdate } from './agente/agente-update.ts'
import { registerBackup } from './backup/backup.ts'
import { registerRestore } from './backup/restore.ts'
import { registerBundlePrepareKey } from './bundle/bundle-prepare-key.ts'
import { registerBundlePrepare } from './bundle/bundle-prepare.ts'
import { registerBundleSign } from './bundle/bundle-sign.ts'
import { registerBundleStatus } from './bundle/bundle-status.ts'
import { registerBundleUpdate } from './bundle/bundle-update.ts'
import { registerCargaCreate } from './carga/carga-create.ts'
import { registerCargaList } from './carga/carga-list.ts'
import { registerCargaRemove } from './carga/carga-remove.ts'
import { registerCargaReseal } from './carga/carga-reseal.ts'
import { registerCargaSelect } from './carga/carga-select.ts'
import { registerCargaShow } from './carga/carga-show.ts'
import { registerCargaUpdate } from './carga/carga-update.ts'
import { registerCertificadoList } from './certificado/certificado-list.ts'
import { registerCheckpoint } from './checkpoint.ts'
import { registerConsoleLink } from './console/console-link.ts'
import { registerConsoleServe } from './console/console-serve.ts'
import type { CommandContext, CommandUse, RegisterCommand } from './command-context.ts'
import {
  addDryRunOptions,
  type DryRunOptions,
  printRehearsal,
  Rehearsed,
  rehearsing,
} from './dry-run.ts'
import { DOCTOR, registerDoctor } from './doctor.ts'
import { registerSignIn, signsIn } from './login/register-sign-in.ts'
import { registerEntregaCancel } from './entrega/entrega-cancel.ts'
import { registerEntregaList } from './entrega/entrega-list.ts'
import { registerEntregaRetry } from './entrega/entrega-retry.ts'
import { registerEntregaShow } from './entrega/entrega-show.ts'
import { registerEvidence } from './evidence/evidence.ts'
import { registerEventoArchive } from './evento/evento-archive.ts'
import { registerEventoExport } from './evento/evento-export.ts'
import { registerEventoList } from './evento/evento-list.ts'
import { registerEventoProof } from './evento/evento-proof.ts'
import { registerEventoSegments } from './evento/evento-segments.ts'
import { registerEventoVerify } from './evento/evento-verify.ts'
import { registerApply } from './fleet/apply.ts'
import { registerExport } from './fleet/export.ts'
import { registerFleetOwners } from './fleet/fleet-owners.ts'
import { registerPlan } from './fleet/plan.ts'
import { registerFreeze } from './freeze.ts'
import { registerHubsList } from './hubs/hubs-list.ts'
import { registerHubsRemove } from './hubs/hubs-remove.ts'
import { registerInit } from './init.ts'
import { registerJoin } from './join.ts'
import { namingNear } from './name-near.ts'
import { registerJoinRuleCreate } from './join-rule/join-rule-create.ts'
import { registerJoinRuleEnd } from './join-rule/join-rule-end.ts'
import { registerJoinRuleList } from './join-rule/join-rule-list.ts'
import { registerJoinRuleShow } from './join-rule/join-rule-show.ts'
import { registerPassphraseChange } from './passphrase/passphrase-change.ts'
import { registerPoliticaList } from './politica/politica-list.ts'
import { registerPoliticaRemove } from './politica/politica-remove.ts'
import { registerPoliticaSelectors } from './politica/politica-selectors.ts'
import { registerPoliticaSet } from './politica/politica-set.ts'
import { registerPoliticaShow } from './politica/politica-show.ts'
import { registerRecoveryAdd } from './recovery/recovery-add.ts'
import { registerRecoveryList } from './recovery/recovery-list.ts'
import { registerRecoveryRemove } from './recovery/recovery-remove.ts'
import {
  registerRolloutPause,
  registerRolloutResume,
  registerRolloutUndo,
} from './rollout/rollout-change.ts'
import { registerRolloutList } from './rollout/rollout-list.ts'
import { registerRolloutShow } from './rollout/rollout-show.ts'
import { registerSearch } from './search.ts'
import { registerStandbyInit } from './standby/standby-init.ts'
import { registerStandbyPromote } from './standby/standby-promote.ts'
import { registerStandbyStatus } from './standby/standby-status.ts'
import { registerStatus } from './status.ts'
import { registerTokenCreate } from './token/token-create.ts'
import { registerTokenList } from './token/token-list.ts'
import { registerTokenRevoke } from './token/token-revoke.ts'
import { registerUnseal } from './unseal.ts'
import { registerVaultCompact } from './vault/vault-compact.ts'
import { registerVaultMigrate } from './vault/vault-migrate.ts'
import { registerVaultRekey } from './vault/vault-rekey.ts'
import { registerWebhookCreate } from './webhook/webhook-create.ts'
import { registerWebhookList } from './webhook/webhook-list.ts'
import { registerWebhookRemove } from './webhook/webhook-remove.ts'
import { registerWebhookReplay } from './webhook/webhook-replay.ts'
import { registerWebhookShow } from './webhook/webhook-show.ts'
import { registerWebhookTest } from './webhook/webhook-test.ts'

interface Noun {
  readonly name: string
  readonly alias?: string
  readonly description: string
  readonly commands: readonly RegisterCommand[]
}

const NOUNS: readonly Noun[] = [
  {
    name: 'token',
    description: 'one-time enrolment tokens',
    commands: [registerTokenCreate, registerTokenList, registerTokenRevoke],
  },
  {
    name: 'join-rule',
    description: 'rules by which hosts enrol without a token for each of them',
    commands: [
      registerJoinRuleCreate,
      registerJoinRuleList,
      registerJoinRuleShow,
      registerJoinRuleEnd,
    ],
  },
  {
    name: COMMAND_WORDS.agente[0],
    alias: COMMAND_WORDS.agente[1],
    description: 'the enrolled hosts',
    commands: [
      registerAgenteList,
      registerAgenteShow,
      registerAgenteLabel,
      registerAgenteSync,
      registerAgenteRotate,
      registerAgenteUpdate,
      registerAgentePush,
      registerAgenteRevoke,
      registerAgenteRevocations,
      registerAgenteRemove,
    ],
  },
  {
    name: COMMAND_WORDS.certificado[0],
    alias: COMMAND_WORDS.certificado[1],
    description: 'the certificates that hosts live on',
    commands: [registerCertificadoList],
  },
  {
    name: COMMAND_WORDS.carga[0],
    alias: COMMAND_WORDS.carga[1],
    description: 'the things that the hub delivers',
    commands: [
      registerCargaCreate,
      registerCargaList,
      registerCargaShow,
      registerCargaUpdate,
      registerCargaReseal,
      registerCargaSelect,
      registerCargaRemove,
    ],
  },
  {
    name: 'rollout',
    description: 'next versions of loads that go to the hosts in waves',
    commands: [
      registerRolloutList,
      registerRolloutShow,
      registerRolloutPause,
      registerRolloutResume,
      registerRolloutUndo,
    ],
  },
  {
    name: COMMAND_WORDS.entrega[0],
    alias: COMMAND_WORDS.entrega[1],
    description: 'each agent’s share of a load',
    commands: [
      registerEntregaList,
      registerEntregaShow,
      registerEntregaCancel,
      registerEntregaRetry,
    ],
  },
  {
    name: COMMAND_WORDS.politica[0],
    alias: COMMAND_WORDS.politica[1],
    description: 'rules for the agents of a role',
    commands: [
      registerPoliticaSet,
      registerPoliticaList,
      registerPoliticaSelectors,
      registerPoliticaShow,
      registerPoliticaRemove,
    ],
  },
  {
    name: 'bundle',
    description: 'the roots that hub and agents trust',
    commands: [
      registerBundleStatus,
      registerBundleUpdate,
      registerBundlePrepare,
      registerBundleSign,
      registerBundlePrepareKey,
    ],
  },
  {
    name: COMMAND_WORDS.evento[0],
    alias: COMMAND_WORDS.evento[1],
    description: 'the audit log',
    commands: [
      registerEventoList,
      registerEventoExport,
      registerEventoProof,
      registerEventoVerify,
      registerEventoArchive,
      registerEventoSegments,
    ],
  },
  {
    name: 'fleet',
    description: 'what the files of a fleet own',
    commands: [registerFleetOwners],
  },
  {
    name: 'webhook',
    description: 'receivers of new entries of the audit log',
    commands: [
      registerWebhookCreate,
      registerWebhookList,
      registerWebhookShow,
      registerWebhookTest,
      registerWebhookReplay,
      registerWebhookRemove,
    ],
  },
  {
    name: 'passphrase',
    description: 'the master passphrase of the vault',
    commands: [registerPassphraseChange],
  },
  {
    name: 'vault',
    description: 'the vault itself',
    commands: [registerVaultRekey, registerVaultCompact, registerVaultMigrate],
  },
  {
    name: 'hubs',
    description: 'the hubs that share the vault',
    commands: [registerHubsList, registerHubsRemove],
  },
  {
    name: 'standby',
    description: 'a second machine that keeps a copy of the vault',
    commands: [registerStandbyInit, registerStandbyStatus, registerStandbyPromote],
  },
  {
    name: 'recovery',
    description: 'keys that open the vault when the passphrase is lost',
    commands: [registerRecoveryAdd, registerRecoveryList, registerRecoveryRemove],
  },
  {
    name: 'admin',
    description: 'who may use the admin port: tokens, sessions and passkeys',
    commands: [registerAdminToken, registerAdminSession, registerAdminPasskey],
  },
  {
    name: 'console',
    description: 'the pages of the hub: served here, or a link that signs in to the hub’s own',
    commands: [registerConsoleServe, registerConsoleLink],
  },
]

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
