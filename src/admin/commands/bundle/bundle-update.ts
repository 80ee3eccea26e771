import type { Command } from 'commander'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { renderBundle } from './bundle-status.ts'
import type { CommandContext } from '../command-context.ts'
import {
  addRolloutOptions,
  parseRolloutOptions,
  type RolloutOptions,
} from '../rollout/rollout-options.ts'
import { describeWaves } from './describe-waves.ts'
import { parseSetNumber } from './parse-set-number.ts'

interface BundleUpdateOptions extends RolloutOptions {
  readonly force?: true
  readonly numero?: number
  readonly novaEpoca?: true
  readonly json?: true
}

export function registerBundleUpdate(bundle: Command, context: CommandContext): void {
  const command = bundle
    .command('update')
    .description('make the hub read its root file again; its roots become the next set')
    .option(
      '--force',
      'make the change even when agents need a removed root: the hub loses these agents',
    )
    .option(
      `${flagOf('numero')} <number>`,
      'the number of the set, after you restored a vault: greater than any that agents have',
      parseSetNumber,
    )
    .option(
      flagOf('nova-epoca'),
      'count from 1 or --number again; agents before 0.5.0 do not follow',
    )
  addRolloutOptions(command)
  command
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The root file is the file of SVC_CA_ROOT_CA_PATH on the hub: all roots to trust, one PEM certificate after the other.
The hub removes a root that agents, or certificates in use, still need only with --force; the refusal names them. "Rotate the CA's root"
in docs/operations.md says step by step how to replace a root.

Once a trust key signs the sets, svc bundle sign puts them in force, and this command refuses.

Numbers only grow: --number goes 1,000 ahead at most, or further with --force, and never into the last million below
2147483647. --new-epoch is the way back from a number that is too great: agents take the new count from a hub that they
trust by their present roots, and never go back to the old count.

With --waves the hub trusts the set at once, and agents are offered it in waves: the next wave opens when each agent of the last one has said
that it trusts the set, and it was so for the time of --soak. One that refuses it, or is late, has failed. Agents of later waves, and hosts that
enrol meanwhile, keep the set before. A set that takes a root away goes to all at once. Roots only go forward: svc rollout pause roots keeps the
rest on the set before, and the next set takes the place of this one; there is no undo.

Examples:
  cat old-root.crt new-root.crt > /etc/svc-server/ca-root.crt && svc bundle update
  svc bundle update --json
  svc bundle update --number 40
  svc bundle update --new-epoch
  svc bundle update --waves 1,10%,100% --soak 10m
`,
    )
    .action(async (options: BundleUpdateOptions) => {
      const { force, numero, novaEpoca, json } = options
      const rules = parseRolloutOptions(options)
      const updated = await context.withAdmin(({ operations }) =>
        operations.updateBundle({
          ...(force && { force }),
          ...(numero === undefined ? {} : { numero }),
          ...(novaEpoca && { nova_epoca: true }),
          ...(rules && { in_waves: rules }),
        }),
      )
      if (json) return context.output.writeJson(updated)
      const done = updated.is_changed
        ? `the roots are now set ${updated.numero}${describeWaves(updated)}`
        : `the root file holds the roots in force: set ${updated.numero} stays`
      const lost = updated.endangered.map(
        ({ hostname, reasons }) => `lost: ${hostname} (${reasons.join('; ')})\n`,
      )
      await context.output.write(
        `${done}\n${lost.join('')}\n${renderBundle(context.output.language, updated)}`,
      )
    })
}
