// `svc console link`: a link that signs in to the console, once.

import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { ADMIN_ROLES, type AdminRole } from '../../../protocol/admin/roles.ts'
import { SIGN_IN_PATH } from '../../../protocol/admin/sessions.ts'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { parseTtlSeconds } from '../parse-ttl.ts'

interface ConsoleLinkOptions {
  readonly name?: string
  readonly role?: AdminRole
  readonly ttl?: string
  readonly validFor: string
  readonly url?: string
  readonly json?: true
}

const NAME_BYTES = 4

const TTL = {
  minSeconds: 60,
  minText: '1m',
  maxSeconds: 12 * 3600,
  maxText: '12h',
  hint: 'sign in again after that, or make an admin token',
}
const VALID_FOR = {
  option: '--valid-for',
  minSeconds: 60,
  minText: '1m',
  maxSeconds: 600,
  maxText: '10m',
  hint: 'open the link at once, or make another one',
}

export function registerConsoleLink(console: Command, context: CommandContext): void {
  console
    .command('link')
    .description('print a link that signs in to the console, once')
    .option('--name <name>', 'an admin token, or with --role the name of a new one')
    .addOption(
      new Option('--role <role>', 'make a token for this link, with this role').choices(
        ADMIN_ROLES,
      ),
    )
    .option('--ttl <duration>', 'with --role: how long its sessions work, at most 12h')
    .option('--valid-for <duration>', 'how long the link works, 1m to 10m', '5m')
    .option('--url <url>', 'the admin port as the browser reaches it; the hub knows its own name')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The first person to open the link is signed in, and acts as token:<name>. The link works once; svc event list --type session_started
says from where. A token that is made for a link has no text that anybody knows: it ends after --ttl, or by svc admin token revoke. Without
--name it gets one that is free, such as link-3f9a01c4.

Examples:
  svc console link --name on-call --role operator --ttl 8h
  svc console link --role viewer
  svc console link --name deploy-pipeline --valid-for 2m
`,
    )
    .action(async (options: ConsoleLinkOptions) => {
      const request = {
        name: options.name ?? makeName(options.role),
        valid_seconds: parseTtlSeconds(options.validFor, VALID_FOR),
        ...(options.role !== undefined && { role: options.role }),
        ...(options.ttl !== undefined && { ttl_seconds: parseTtlSeconds(options.ttl, TTL) }),
      }
      const base = options.url === undefined ? undefined : parseConsoleUrl(options.url)
      const made = await context.withAdmin(({ operations }) => operations.createSignInLink(request))
      const { code, name, role, expires_at, token_expires_at } = made
      const at = base ?? made.url ?? ''
      if (at === '') context.note('the link needs the URL of an admin port before it: see --url')
      const link = `${at}${SIGN_IN_PATH}#code=${code}`
      if (options.json) return context.output.writeJson({ ...made, link })
      const shown = { link, name, role, expires_at, token_expires_at }
      await context.output.write(`${renderFields(context.output.language, shown)}\n`)
    })
}

/** Who pastes the same command every night gets a token each time: the one before may still be good. */
function makeName(role: AdminRole | undefined): string {
  if (role !== undefined) return `link-${randomBytes(NAME_BYTES).toString('hex')}`
  throw new UserError('usage', 'whom the link signs in is missing', {
    hint: '--name names an admin token; --role makes one for this link',
  })
}

function parseConsoleUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:') return url.origin
  throw new UserError('url_invalid', `--url: ${text} is not an https URL`, {
    hint: 'such as https://hub.example.org:8445',
  })
}
