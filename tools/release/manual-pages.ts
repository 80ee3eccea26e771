// The manual pages of the programs, from the tables that their `--help` prints.

import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import type { CommandContext } from '../../src/admin/commands/command-context.ts'
import { buildProgram as buildSvc } from '../../src/admin/commands/program.ts'
import { CLI_VARIABLES } from '../../src/admin/doors/hub-options.ts'
import { Output } from '../../src/admin/terminal/output.ts'
import { buildProgram as buildAgent } from '../../src/agent/program.ts'
import {
  AGENT_SETTINGS,
  AGENT_VARIABLES,
  type AgentVariable,
} from '../../src/agent/settings/agent-variables.ts'
import { HUB_DESCRIPTION, HUB_EXAMPLES, HUB_USAGE } from '../../src/hub/help-text.ts'
import { HUB_VARIABLES } from '../../src/hub/hub-variables.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { HUB_SETTINGS } from '../../src/protocol/hub-settings.ts'
import { describeOptions, readTextAfter, renderCommands } from './manual-commands.ts'
import type { Definition, ManualPage } from './manual-page.ts'

/** The variables by which svc finds and opens the vault itself. */
const VAULT_VARIABLES = ['SVC_VAULT_ROOT', 'SVC_MASTER_PASSPHRASE']

const DONE_OR_NOT: readonly Definition[] = [
  { term: '0', text: 'The command did what it was asked for.' },
  {
    term: '1',
    text: 'It failed, or found that something is wrong. The reason is on standard error, with a hint where one helps.',
  },
]

export function serverPage(): ManualPage {
  return {
    name: 'svc-server',
    section: 8,
    summary: 'the hub of Cartorio: certificates and secrets for hosts',
    synopsis: [HUB_USAGE],
    description: HUB_DESCRIPTION,
    options: [
      { term: '--config <file>', text: `Settings, in place of \`${HUB_SETTINGS.path}\`.` },
      {
        term: '--standby <url>',
        text: 'Be the standby of the hub at that URL; the same as `SVC_STANDBY_OF`.',
      },
      { term: '--check', text: 'Serve nothing: try the settings, and name what is wrong.' },
      { term: '--json', text: 'With `--check`: print one JSON document.' },
      { term: '-h, --help', text: 'Print the settings and examples.' },
      { term: '-V, --version', text: 'Print the version.' },
    ],
    environment: hubVariables(),
    exitStatus: [
      { term: '0', text: 'A signal ended the hub; or `--check` found nothing that failed.' },
      { term: '1', text: 'The hub could not start or go on; or `--check` found what failed.' },
    ],
    files: [
      ...hubFiles(),
      { term: '/var/lib/svc/admin.sock', text: 'The socket by which `svc` reaches a running hub.' },
    ],
    examples: HUB_EXAMPLES,
    seeAlso: ['svc(1)', 'svc-agent(1)'],
  }
}

export function svcPage(): ManualPage {
  const program = svcProgram()
  const { text, examples } = splitExamples(readTextAfter(program))
  return {
    name: program.name(),
    section: 1,
    summary: 'the admin CLI of the Cartorio hub',
    synopsis: ['svc [options] <command>', 'svc <command> --help'],
    description: text,
    options: describeOptions(program),
    commands: renderCommands(program),
    environment: [
      ...CLI_VARIABLES.map(({ name, meaning }) => ({ term: name, text: meaning })),
      ...hubVariables(VAULT_VARIABLES),
      {
        term: 'SVC_RECIPIENTS_FILE',
        text: 'The file of the fingerprints that you accepted, in place of `~/.config/svc/recipients.json`.',
      },
    ],
    exitStatus: DONE_OR_NOT,
    files: [
      ...hubFiles(),
      { term: '~/.config/svc/recipients.json', text: 'The fingerprints that you accepted.' },
    ],
    examples,
    seeAlso: ['svc-server(8)', 'svc-agent(1)'],
  }
}

export function agentPage(): ManualPage {
  const program = agentProgram()
  const { text, examples } = splitExamples(readTextAfter(program))
  return {
    name: program.name(),
    section: 1,
    summary: 'the agent of Cartorio: certificates and secrets for this host',
    synopsis: ['svc-agent [options] <command>', 'svc-agent <command> --help'],
    description: `${program.description()}\n${text}`,
    options: describeOptions(program),
    commands: renderCommands(program),
    environment: AGENT_VARIABLES.map((variable: AgentVariable) => ({
      term: variable.name,
      text: [
        `${variable.meaning}.`,
        ...(variable.requiredIn.length > 0
          ? [`Required in ${variable.requiredIn.join(', ')}.`]
          : []),
        ...(variable.default === undefined ? [] : [`Default: ${variable.default}.`]),
      ].join(' '),
    })),
    exitStatus: [
      ...DONE_OR_NOT,
      {
        term: '0, 1, 2, 255',
        text: 'Of `check`: a renewal is due; not yet; there is no identity; an error.',
      },
    ],
    files: [
      {
        term: AGENT_SETTINGS.path,
        text: 'Settings, one NAME=value a line. The environment wins over them.',
      },
      { term: AGENT_SETTINGS.packagePath, text: 'What the package sets, below both.' },
      { term: '/etc/svc-agent/targets.d', text: 'Where deliveries go on this host, as TOML.' },
      { term: '/var/lib/svc-agent', text: 'The identity, the deliveries in `out`, and the state.' },
      {
        term: '/var/lib/svc-agent-targets',
        text: 'What root keeps of the targets that root applies.',
      },
    ],
    examples,
    seeAlso: ['svc(1)', 'svc-server(8)'],
  }
}

/** The trees are described, and nothing of them runs. */
export function svcProgram(): Command {
  const refuse = (): Promise<never> => Promise.reject(new Error('a manual page runs no command'))
  const context: CommandContext = {
    output: new Output(new PassThrough()),
    clock: systemClock,
    progress: { show: () => undefined, clear: () => undefined },
    vault: {
      create: refuse,
      checkPassphrase: refuse,
      withBackup: refuse,
      verifyBackup: refuse,
      restore: refuse,
      changePassphrase: refuse,
      addRecoveryKey: refuse,
      removeRecoveryKey: refuse,
      listRecoveryKeys: refuse,
      rekey: refuse,
      compact: refuse,
      migrate: refuse,
      join: refuse,
      standby: { init: refuse, status: refuse, promote: refuse },
    },
    useOptions: () => undefined,
    note: () => undefined,
    openSecret: refuse,
    openScene: refuse,
    openPins: refuse,
    openConsoleDoor: refuse,
    openSignIn: refuse,
    untilEnded: refuse,
    withAdmin: refuse,
  }
  return buildSvc(context, () => undefined)
}

export function agentProgram(): Command {
  return buildAgent({})
}

function hubVariables(names?: readonly string[]): Definition[] {
  return HUB_VARIABLES.filter(({ name }) => names?.includes(name) ?? true).map((variable) => {
    const { name, required, kind, default: value, meaning, isSecret } = variable
    const where = kind === undefined ? '' : ` with SVC_CA_KIND=${kind}`
    const need = names === undefined ? `Required${where}.` : 'Required where no hub runs.'
    const notes = required ? need : `Default: ${value || 'none'}.`
    return {
      term: isSecret === true ? `${name}, ${name}_FILE` : name,
      text: `${meaning} ${notes}${isSecret === true ? ' `_FILE` names a file that holds it.' : ''}`,
    }
  })
}

function hubFiles(): Definition[] {
  return [
    {
      term: HUB_SETTINGS.path,
      text: 'Settings, one NAME=value a line. The environment wins over them.',
    },
    { term: HUB_SETTINGS.packagePath, text: 'What the package sets, below both.' },
    { term: '/var/lib/svc', text: 'The vault: all that the hub knows, encrypted.' },
  ]
}

/** The table of variables at the end of the agent's help has a section of its own. */
function splitExamples(text: string): { readonly text: string; readonly examples: string } {
  const [before = '', after = ''] = text.split(/^Examples:$/m)
  return { text: before, examples: after.split(/^Environment:$/m)[0] ?? '' }
}
