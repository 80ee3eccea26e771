import { type Command, Option } from 'commander'
import { parseDurationMs } from '../../../platform/durations.ts'
import { UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'
import type { DryRunOptions } from '../dry-run.ts'
import { cargoArgument } from '../named-arguments.ts'
import { resolveCargo } from './resolve-cargo.ts'
import { addSealOptions, parseVouched, type SealOptions } from './seal-options.ts'

interface CargaResealOptions extends SealOptions, DryRunOptions {
  readonly escrowIdentity?: string
  readonly acceptContent?: string
  readonly watch?: true
  readonly every: number
  readonly json?: true
}

export function registerCargaReseal(carga: Command, context: CommandContext): void {
  const command = carga
    .command('reseal')
    .description('seal a sealed load again, for the recipients that its agents have now')
    .addArgument(cargoArgument())
    .option('--escrow-identity <file>', 'the identity of its --escrow; - for standard input')
    .option(
      '--accept-content <sha256>',
      'of the sealed file that the hub has, when this machine did not seal it',
    )
  addSealOptions(command, 'what it holds')
    .option(
      '--watch',
      'stay, and seal again whenever an agent waits that this machine may seal for',
    )
    .addOption(
      new Option('--every <duration>', 'with --watch: how often to look')
        .argParser(parseEvery)
        .default(30_000, '30s'),
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
For hosts that enrolled again with a new identity, and so cannot open their file. The hub cannot open the file either: svc
needs the content, or the identity of its escrow recipient. With that identity svc opens only a file that this machine sealed
for the load, as noted beside the fingerprints, or the file that --accept-content names.

A load of a selector (svc load select) is also sealed for the agents that match and do not have it yet. With --watch svc looks every
30 seconds which of them wait, and seals for those whose recipients it knows or is told of; it names the others once, and goes on
when the hub does not answer.

Examples:
  svc load reseal db-password --file db-password
  svc load reseal db-password --escrow-identity escrow.key
  svc load reseal db-password --escrow-identity escrow.key --watch --every 1m
`,
    )
    .action((id: string, options: CargaResealOptions) => resealCargo(context, id, options))
}

function parseEvery(text: string): number {
  const durationMs = parseDurationMs(text)
  if (durationMs !== undefined && durationMs >= 1000 && durationMs <= 86_400_000) return durationMs
  throw new UserError('usage', `--every: ${text} is not a duration between 1s and 1d`, {
    hint: 'write it as 30s or 5m',
  })
}

async function resealCargo(
  context: CommandContext,
  name: string,
  options: CargaResealOptions,
): Promise<void> {
  const { file, escrowIdentity, json } = options
  const accepted = parseAcceptedContent(options)
  refuseOtherThanOne(options)
  refuseWatchByRoot(options, context)
  const id = await resolveCargo(context, name)
  const update = { id, vouched: parseVouched(options), ...(json && { json }) }
  const { contentOfFile, contentOfHub, sealNext } = await import('./update-sealed-cargo.ts')
  const source = await context.openSecret(file ?? escrowIdentity ?? '')
  try {
    const content =
      file === undefined ? await contentOfHub(id, source, accepted) : contentOfFile(source)
    if (!options.watch) return await sealNext(context, update, content)
    const { watchSealed } = await import('./watch-sealed.ts')
    return await watchSealed(context, { ...update, everyMs: options.every }, content)
  } finally {
    await source.close()
  }
}

/** Its recipients have to be read again in each round, with the rights of the operator. */
function refuseWatchByRoot({ watch, dryRun }: CargaResealOptions, context: CommandContext): void {
  if (!watch) return
  if (dryRun) throw new UserError('usage', '--watch goes on for ever: leave --dry-run out')
  if (context.byOwner === undefined) return
  throw new UserError('usage', 'root beside the vault does not watch', {
    hint: 'run it as an operator with an admin token: --hub and --token-file',
  })
}

function refuseOtherThanOne({ file, escrowIdentity }: CargaResealOptions): void {
  if ((file === undefined) !== (escrowIdentity === undefined)) return
  throw new UserError(
    'usage',
    'give the content with --file, or an identity that opens it with --escrow-identity',
    {
      hint: 'the hub cannot open the file, so svc needs one of the two to seal it again',
    },
  )
}

function parseAcceptedContent({
  acceptContent,
  escrowIdentity,
}: CargaResealOptions): string | undefined {
  if (acceptContent === undefined) return undefined
  if (escrowIdentity === undefined) {
    throw new UserError('usage', '--accept-content goes with --escrow-identity')
  }
  if (/^[0-9a-f]{64}$/.test(acceptContent)) return acceptContent
  throw new UserError('usage', `--accept-content: ${acceptContent} is not a SHA-256 in hex`)
}
