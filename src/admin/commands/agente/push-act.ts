// `sync` and `rotate`: an agent is told to do something, at once or when it is back.

import type { CommandContext } from '../command-context.ts'
import type { DryRunOptions } from '../dry-run.ts'
import { runOnHosts } from '../hosts/run-on-hosts.ts'
import { type AgentSelectionOptions, selectAgents } from '../hosts/select-agents.ts'
import { whenTold } from './when-told.ts'

export interface PushAct {
  readonly acao: 'sync' | 'rotate'
  /** `agente web-1 is to …`. */
  readonly isTo: string
  readonly again: string
  readonly perSecond?: number
}

type Options = AgentSelectionOptions & DryRunOptions

export function pushAct(
  context: CommandContext,
  { acao, isTo, again, perSecond }: PushAct,
): (name: string | undefined, options: Options) => Promise<void> {
  return async (name, options) => {
    const findAgents = await selectAgents(context, name, options)
    await context.withAdmin(async ({ operations }) => {
      const push = ({ agente }: { readonly agente: string }) =>
        operations.pushToAgent({ agente, acao })
      if (findAgents !== undefined) {
        return runOnHosts(context, {
          hosts: await findAgents(operations),
          act: push,
          describe: ({ online }) => (online ? 'online' : 'offline'),
          again,
          isJson: options.json === true,
          isRehearsal: options.dryRun === true,
          ...(perSecond === undefined ? {} : { perSecond }),
        })
      }
      const reply = await push({ agente: name ?? '' })
      if (options.json) return context.output.writeJson(reply)
      await context.output.write(`agent ${name} is to ${isTo}${whenTold(reply)}\n`)
    })
  }
}
