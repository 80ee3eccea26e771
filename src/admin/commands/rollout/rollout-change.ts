// `svc rollout pause`, `resume` and `undo`.

import type { Command } from 'commander'
import type { AdminRollout } from '../../../protocol/admin/rollouts.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { CommandContext, RegisterCommand } from '../command-context.ts'

interface RolloutChange {
  readonly command: 'pause' | 'resume' | 'undo'
  readonly description: string
  readonly help: string
  readonly ask: (operations: AdminOperations, rollout: string) => Promise<AdminRollout>
  readonly news: (rollout: AdminRollout) => string
}

export const registerRolloutPause: RegisterCommand = register({
  command: 'pause',
  description: 'open no further wave of a rollout',
  help: `
Hosts that were given the version, or asked to renew, go on. svc rollout resume goes on; svc rollout undo takes the version back.
`,
  ask: (operations, rollout) => operations.pauseRollout({ rollout }),
  news: ({ id, wave, waves }) => `rollout ${id} is paused in wave ${wave} of ${waves.length}`,
})

export const registerRolloutResume: RegisterCommand = register({
  command: 'resume',
  description: 'go on with a rollout that is paused or frozen',
  help: `
The hosts that failed until now are accepted: one more than that freezes the rollout again. svc delivery retry --all lets them try again.
`,
  ask: (operations, rollout) => operations.resumeRollout({ rollout }),
  news: ({ id, wave, waves }) => `rollout ${id} goes on in wave ${wave} of ${waves.length}`,
})

export const registerRolloutUndo: RegisterCommand = register({
  command: 'undo',
  description: 'end a rollout: its hosts get the last good version again',
  help: `
The hosts that were given the version get the names and the content that the load had before, as fresh deliveries under a new number;
all other hosts keep what they have. For a csr_cert each of them gets another certificate. A rollout that is done cannot be undone: update the load.
A rotation asks no further host, and takes the request back from those that have not followed it. An identity that is renewed stays so.
An update tells no further host, and those no more that have not installed it; it brings no host back to an older version.
Roots are not undone: no agent goes back to an earlier set. Pause them, and put the next set in force.
`,
  ask: (operations, rollout) => operations.undoRollout({ rollout }),
  news: ({ id, kind, nome, given, versao }) =>
    kind === 'update'
      ? `rollout ${id} is being undone: no further host is told, and what is installed stays`
      : versao === null
        ? `rollout ${id} is being undone: no further host is asked, and what is renewed stays so`
        : `rollout ${id} is being undone: ${given} of the hosts of load ${nome} get version ${versao + 1}, which is as the load was before`,
})

function register({ command, description, help, ask, news }: RolloutChange): RegisterCommand {
  return (rollout: Command, context: CommandContext) => {
    rollout
      .command(command)
      .description(description)
      .argument('<rollout>', 'its id, the load whose rollout is open, or rotation, roots or update')
      .option('--json', 'print one JSON document')
      .addHelpText(
        'after',
        `${help}
Examples:
  svc rollout ${command} site
  svc rollout ${command} 1c8d3b5a7e9f0246 --json
`,
      )
      .action(async (name: string, options: { json?: true }) => {
        const changed = await context.withAdmin(({ operations }) => ask(operations, name))
        if (options.json) return context.output.writeJson(changed)
        await context.output.write(`${news(changed)}\n`)
      })
  }
}
