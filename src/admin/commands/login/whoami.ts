// `svc whoami`: for whom a hub takes the caller. docs/protocol.md OID-40.

import type { Command } from 'commander'
import type { RemoteHub } from '../../doors/hub-options.ts'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { chooseHub } from './choose-hub.ts'

export function registerWhoami(program: Command, context: CommandContext): void {
  program
    .command('whoami')
    .description('show for whom a hub takes you, and until when')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
It asks the hub of --hub or SVC_HUB, else that of the only login, with what every other command would use there: the token of
--token-file, of SVC_HUB_TOKEN_FILE, or the login.

Examples:
  svc whoami
  svc whoami --hub https://hub.example.org:8445
  svc --hub https://hub.example.org:8445 --token-file ~/.svc-token whoami --json
`,
    )
    .action((options: { readonly json?: true }) => whoami(context, options))
}

async function whoami(context: CommandContext, { json }: { readonly json?: true }): Promise<void> {
  const { output } = context
  const door = await context.openSignIn()
  const remote = await door.findRemote((door.named ?? chooseHub(door).hub).url)
  const { openRemoteHub } = await import('../../doors/remote-hub.ts')
  const own = await openRemoteHub(remote).operations.showOwnToken({})
  const { name, role, only, expires_at, id, issuer = null } = own
  const from = sourceOf(remote)
  const shown = { hub: remote.url.origin, name, role, only, ...from, issuer, expires_at }
  if (json) return output.writeJson({ ...shown, id })
  const known = Object.entries(shown).filter(([, value]) => value !== null)
  await output.write(renderFields(output.language, Object.fromEntries(known)))
}

function sourceOf({ from }: RemoteHub) {
  if ('file' in from) return { token_file: from.file, provider: null }
  return { token_file: null, provider: from.login.provider.name }
}
