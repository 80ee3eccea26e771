import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { CommandContext } from '../command-context.ts'
import type { DryRunOptions } from '../dry-run.ts'
import { runOnHosts } from '../hosts/run-on-hosts.ts'
import { type Labelled, requireLabels } from './require-labels.ts'
import { openTokenFile, refuseExposedOutput, type TokenFile } from './token-file.ts'

export interface TokenHost {
  readonly name: string
  readonly role: string
}

/** Which hosts get a token: those of a file, or those that are enrolled. */
export interface TokenHosts {
  readonly find: (operations: AdminOperations) => Promise<readonly TokenHost[]>
  /** Throws when the host is not to get one after all; right before its token is made. */
  readonly refuse?: (operations: AdminOperations, host: TokenHost) => Promise<void>
}

export interface TokensRequest extends DryRunOptions {
  readonly out?: string
  readonly request: Labelled & { readonly reenroll?: true; readonly ttl_seconds?: number }
}

const AGAIN = 'run the command again with the same --out: it makes the tokens that are left'

/** A token for each of many hosts. docs/protocol.md CLI-63. */
export async function createTokens(
  context: CommandContext,
  hosts: TokenHosts,
  asked: TokensRequest,
): Promise<void> {
  const { descriptor } = context.output
  if (asked.out === undefined && !asked.dryRun && descriptor !== undefined) {
    refuseExposedOutput(descriptor)
  }
  const out = asked.out === undefined || asked.dryRun ? undefined : await openTokenFile(asked.out)
  try {
    await createEach(context, hosts, asked, out)
  } finally {
    await out?.close()
  }
}

/** Nobody ever sees a token that its file does not take: it is ended, so that the next try makes another one. */
export async function createKeptToken(
  operations: Pick<AdminOperations, 'createToken' | 'revokeToken'>,
  note: CommandContext['note'],
  asked: Parameters<AdminOperations['createToken']>[0],
  out: Pick<TokenFile, 'add'> | undefined,
): Promise<{ readonly expires_at: string; readonly token?: string }> {
  const { id, token, expires_at } = await operations.createToken(asked)
  if (out === undefined) return { expires_at, token }
  try {
    await out.add(asked.hostname, token)
  } catch (error) {
    // Why it is open matters less than that it is, and the caller stops at the file, not at a hub that is away.
    await operations.revokeToken({ token: id }).catch(() => {
      note(`the token ${id} of ${asked.hostname} stays open: svc token revoke ${id}`)
    })
    throw error
  }
  return { expires_at }
}

async function createEach(
  context: CommandContext,
  { find, refuse }: TokenHosts,
  { request, json, dryRun }: TokensRequest,
  out: TokenFile | undefined,
): Promise<void> {
  await context.withAdmin(async ({ operations }) => {
    await requireLabels(operations, request)
    const all = await find(operations)
    const hosts = all.filter(({ name }) => out?.hosts.has(name) !== true)
    const before = all.length - hosts.length
    if (before > 0) context.note(`${before} of ${all.length} hosts have their token in the file`)
    await runOnHosts(context, {
      hosts,
      act: async (host) => {
        await refuse?.(operations, host)
        const { name: hostname, role } = host
        const wanted = { reenroll: false, ...request, hostname, role }
        return createKeptToken(operations, context.note, wanted, out)
      },
      describe: ({ token }) => token ?? 'token written',
      again: AGAIN,
      isJson: json === true,
      isRehearsal: dryRun === true,
    })
  })
}
