import { UserError } from '../../platform/errors.ts'
import type { CommandContext } from './command-context.ts'
import type { DryRunOptions } from './dry-run.ts'
import { type ListedHost, readHostFile } from './host-file.ts'
import { runOnHosts } from './run-on-hosts.ts'
import { openTokenFile, refuseExposedOutput, type TokenFile } from './token-file.ts'

export interface TokensRequest extends DryRunOptions {
  readonly file: string
  /** Of the lines that name none. */
  readonly role?: string
  readonly out?: string
  readonly request: { readonly reenroll?: true; readonly ttl_seconds?: number }
}

const AGAIN = 'run the command again with the same --out: it makes the tokens that are left'

/** A token for each host of a file. docs/protocol.md CLI-63. */
export async function createTokens(context: CommandContext, asked: TokensRequest): Promise<void> {
  const listed = await readHostFile(context.openSecret, asked.file)
  const roleless = listed.find(({ rest }) => rest === '' && asked.role === undefined)
  if (roleless !== undefined) {
    throw new UserError('usage', `${asked.file} names no role for ${roleless.name}`, {
      hint: 'write the role behind the hostname, or give one to all with --role',
    })
  }
  const { descriptor } = context.output
  if (asked.out === undefined && !asked.dryRun && descriptor !== undefined) {
    refuseExposedOutput(descriptor)
  }
  const out = asked.out === undefined || asked.dryRun ? undefined : await openTokenFile(asked.out)
  try {
    await createEach(context, listed, asked, out)
  } finally {
    await out?.close()
  }
}

async function createEach(
  context: CommandContext,
  listed: readonly ListedHost[],
  { role, request, json, dryRun }: TokensRequest,
  out: TokenFile | undefined,
): Promise<void> {
  const hosts = listed.filter(({ name }) => out?.hosts.has(name) !== true)
  const before = listed.length - hosts.length
  if (before > 0) context.note(`${before} of ${listed.length} hosts have their token in the file`)
  await context.withAdmin(({ operations }) =>
    runOnHosts(context, {
      hosts,
      act: async ({ name, rest }) => {
        const asked = { reenroll: false, ...request, hostname: name, role: rest || (role ?? '') }
        const { token, expires_at } = await operations.createToken(asked)
        await out?.add(name, token)
        return { expires_at, ...(out === undefined && { token }) }
      },
      describe: ({ token }) => token ?? 'token written',
      again: AGAIN,
      isJson: json === true,
      isRehearsal: dryRun === true,
    }),
  )
}
