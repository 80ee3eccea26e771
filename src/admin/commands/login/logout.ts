// `svc logout`: the hub revokes the token of a login, and svc forgets it. docs/protocol.md OID-39.

import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { KeptLogin } from '../../doors/kept-login.ts'
import type { CommandContext, SignInDoor } from '../command-context.ts'
import { chooseHub } from './choose-hub.ts'
import { endAtHub } from './end-login.ts'

interface LogoutOptions {
  readonly all?: true
  readonly json?: true
}

interface SignedOut {
  readonly hub: string
  readonly name: string
  /** False when the hub could not be asked: the token works there until its end. */
  readonly revoked: boolean
  readonly expires_at: string
  readonly reason: string | null
}

export function registerLogout(program: Command, context: CommandContext): void {
  program
    .command('logout')
    .description('end the login at a hub, there and here')
    .option('--all', 'at every hub where somebody is signed in')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Name the hub with --hub or SVC_HUB; with one login alone it is that one. The hub revokes the token, and svc removes its file. When the
hub cannot be asked, svc removes the file all the same, says until when the token works, and exits with 1.

Examples:
  svc logout --hub https://hub.example.org:8445
  svc logout --all
`,
    )
    .action((options: LogoutOptions) => logout(context, options))
}

async function logout(context: CommandContext, { all, json }: LogoutOptions): Promise<void> {
  const { output } = context
  const door = await context.openSignIn()
  const { logins, refused } = all ? door.logins.list() : { logins: chosenOf(door), refused: [] }
  const ended: SignedOut[] = []
  for (const login of logins) ended.push(await signOut(context, door, login))
  const isNobody = ended.length === 0 && refused.length === 0
  if (json) await output.writeJson({ logins: ended })
  else await output.write(isNobody ? 'nobody was signed in\n' : ended.map(say).join(''))
  const left = ended.filter(({ revoked }) => !revoked)
  const failure = left.length === 0 ? refused[0] : undefined
  for (const { message, hint = '' } of refused.filter((each) => each !== failure)) {
    context.note(`${message}: ${hint}`)
  }
  if (failure !== undefined) throw failure
  if (left.length === 0) return
  const { hub = '', name = '', expires_at = '', reason } = left[0] ?? {}
  throw new UserError(
    'not_revoked',
    `${hub} did not revoke the token of ${name}, which works there until ${expires_at}: ${reason}`,
    { hint: `an admin ends it at once: svc admin token revoke ${name}` },
  )
}

function chosenOf(door: SignInDoor): readonly KeptLogin[] {
  if (door.named === undefined) {
    const { logins, refused } = door.logins.list()
    if (logins.length === 0 && refused.length === 0) return []
  }
  const { login } = chooseHub(door)
  return login === undefined ? [] : [login]
}

/** The file goes last: until then what was interrupted can be tried again. */
async function signOut(
  { clock }: CommandContext,
  { logins }: SignInDoor,
  login: KeptLogin,
): Promise<SignedOut> {
  const isOver = login.expiresAt <= clock.now()
  const failure = isOver ? undefined : await endAtHub(login)
  await logins.forget(new URL(login.hub))
  return {
    hub: login.hub,
    name: login.name,
    revoked: failure === undefined,
    expires_at: login.expiresAt.toISOString(),
    reason: failure?.message ?? null,
  }
}

function say({ hub, name, revoked }: SignedOut): string {
  return `signed out at ${hub}${revoked ? `, as ${name}` : ' on this machine alone'}\n`
}
