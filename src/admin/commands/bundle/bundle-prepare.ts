import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { parseCertificatesPem } from '../../../pki/certificates.ts'
import type { AdminBundle } from '../../../protocol/admin/views.ts'
import { LIMITS } from '../../../protocol/limits.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { formatSetStatement } from '../../../trust/statements.ts'
import { isFleetName, parseTrustKey } from '../../../trust/trust-key.ts'
import type { CommandContext } from '../command-context.ts'
import { parseSetNumber } from './parse-set-number.ts'
import { readGiven } from './read-given.ts'

interface PrepareOptions {
  readonly fleet?: string
  readonly numero?: number
  readonly novaEpoca?: true
}

const ROOT_FILE_BYTES_MAX = 1024 * 1024

export function registerBundlePrepare(bundle: Command, context: CommandContext): void {
  bundle
    .command('prepare <root-file>')
    .description('write the text that the trust key has to sign for these roots')
    .option('--fleet <name>', 'the fleet that the trust key is of: without it, as the hub has it')
    .option(
      `${flagOf('numero')} <number>`,
      'the number of the set: without it, the one after the set in force',
      parseSetNumber,
    )
    .option(flagOf('nova-epoca'), 'count from 1 or --number again')
    .addHelpText(
      'after',
      `
The text names fleet, number and the SHA-256 of each root. Compare these with the CA itself before you sign: a thief who
holds the hub could have changed the file. The trust key, a key of minisign, never needs to be where svc is. With --fleet and
--number svc asks no hub. "A trust key" in docs/operations.md says step by step how to begin, and how to change the key.

Keep what this prints in a file, such as set.txt. Where the secret key is, minisign -S -s trust.key -m set.txt makes the
signature set.txt.minisig, and svc bundle sign set.txt puts the set in force.

Examples:
  svc bundle prepare ca-root.crt --fleet prod
  svc bundle prepare ca-root.crt
  svc bundle prepare ca-root.crt --fleet prod --number 7
`,
    )
    .action(async (path: string, options: PrepareOptions) => {
      const { fleet, epoch, number } = await completeNumber(context, options)
      if (!isFleetName(fleet)) {
        throw new UserError('usage', `--fleet: ${fleet} is not a name of a-z, 0-9, . and -`)
      }
      const pem = await readGiven(path, 'root file', ROOT_FILE_BYTES_MAX)
      const fingerprints = fingerprintsOf(pem, path)
      await context.output.write(formatSetStatement({ fleet, epoch, number, fingerprints }))
    })
}

interface CompleteNumber {
  readonly fleet: string
  readonly epoch: number
  readonly number: number
}

async function completeNumber(
  context: CommandContext,
  { fleet, numero, novaEpoca }: PrepareOptions,
): Promise<CompleteNumber> {
  if (fleet !== undefined && numero !== undefined && novaEpoca === undefined) {
    // A set of a later época is rare enough to ask the hub for it.
    return { fleet, epoch: 1, number: numero }
  }
  const shown = await context.withAdmin(({ operations }) => operations.showBundle({}))
  const isLast = shown.numero >= LIMITS.rootSetNumberMax
  const isNewEpoch = novaEpoca === true || isLast
  return {
    fleet: fleet ?? fleetOf(shown),
    epoch: isNewEpoch ? shown.epoca + 1 : shown.epoca,
    number: numero ?? (isNewEpoch ? 1 : shown.numero + 1),
  }
}

function fleetOf({ trust_key: text }: AdminBundle): string {
  const key = text === undefined ? undefined : parseTrustKey(text)
  if (key !== undefined) return key.fleet
  throw new UserError('usage', 'the hub has no trust key yet: --fleet names the fleet', {
    hint: 'a name that no other fleet of yours has, such as prod; agents hold on to it',
  })
}

function fingerprintsOf(pem: string, path: string): string[] {
  let fingerprints: string[]
  try {
    fingerprints = [...new Set(parseCertificatesPem(pem).map(({ sha256 }) => sha256))]
  } catch {
    throw new UserError('root_file_invalid', `${path}: a certificate in it does not parse`)
  }
  if (fingerprints.length > 0 && fingerprints.length <= LIMITS.rootsMax) return fingerprints
  const found = `${fingerprints.length} PEM certificates in it`
  throw new UserError('root_file_invalid', `${path}: ${found}, of 1 to ${LIMITS.rootsMax}`)
}
