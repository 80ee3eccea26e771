import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'
import { cargoArgument } from '../named-arguments.ts'
import { resolveCargo } from './resolve-cargo.ts'
import { addSealOptions, parseVouched, type SealOptions } from './seal-options.ts'

interface CargaResealOptions extends SealOptions {
  readonly escrowIdentity?: string
  readonly acceptContent?: string
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
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
For hosts that enrolled again with a new identity, and so cannot open their file. The hub cannot open the file either: svc
needs the content, or the identity of its escrow recipient. With that identity svc opens only a file that this machine sealed
for the load, as noted beside the fingerprints, or the file that --accept-content names.

Examples:
  svc load reseal db-password --file db-password
  svc load reseal db-password --escrow-identity escrow.key
`,
    )
    .action((id: string, options: CargaResealOptions) => resealCargo(context, id, options))
}

async function resealCargo(
  context: CommandContext,
  name: string,
  options: CargaResealOptions,
): Promise<void> {
  const { file, escrowIdentity, json } = options
  const accepted = parseAcceptedContent(options)
  refuseOtherThanOne(options)
  const id = await resolveCargo(context, name)
  const update = { id, vouched: parseVouched(options), ...(json && { json }) }
  const { sealAnew, sealFile } = await import('./update-sealed-cargo.ts')
  if (file !== undefined) return sealFile(context, update, file)
  if (escrowIdentity !== undefined) {
    return sealAnew(context, update, { identityFile: escrowIdentity, accepted })
  }
  return undefined
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
