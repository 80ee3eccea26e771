import type { Command } from 'commander'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { renderBundle } from './bundle-status.ts'
import type { CommandContext } from '../command-context.ts'
import { parseSetNumber } from './parse-set-number.ts'

interface BundleUpdateOptions {
  readonly force?: true
  readonly numero?: number
  readonly novaEpoca?: true
  readonly json?: true
}

export function registerBundleUpdate(bundle: Command, context: CommandContext): void {
  bundle
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

Examples:
  cat old-root.crt new-root.crt > /etc/svc-server/ca-root.crt && svc bundle update
  svc bundle update --json
  svc bundle update --number 40
  svc bundle update --new-epoch
`,
    )
    .action(async ({ force, numero, novaEpoca, json }: BundleUpdateOptions) => {
      const updated = await context.withAdmin(({ operations }) =>
        operations.updateBundle({
          ...(force && { force }),
          ...(numero === undefined ? {} : { numero }),
          ...(novaEpoca && { nova_epoca: true }),
        }),
      )
      if (json) return context.output.writeJson(updated)
      const done = updated.is_changed
        ? `the roots are now set ${updated.numero}`
        : `the root file holds the roots in force: set ${updated.numero} stays`
      const lost = updated.endangered.map(
        ({ hostname, reasons }) => `lost: ${hostname} (${reasons.join('; ')})\n`,
      )
      await context.output.write(
        `${done}\n${lost.join('')}\n${renderBundle(context.output.language, updated)}`,
      )
    })
}
