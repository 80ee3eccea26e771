// `svc login`: who a person is, by the OpenID provider of a hub. docs/protocol.md OID-31 to OID-37.

import { type Command, InvalidArgumentError } from 'commander'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { KeptLogin } from '../../doors/kept-login.ts'
import { isSameRoot } from '../../doors/same-root.ts'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext, SignInDoor } from '../command-context.ts'
import { type ChosenHub, chooseHub } from './choose-hub.ts'
import { endAtHub } from './end-login.ts'
import { viewOf } from './login-view.ts'

interface LoginOptions {
  readonly port: number
  readonly browser: boolean
  readonly force?: true
  readonly json?: true
}

/** A login that is good for longer is left alone. */
const RENEWED_WITHIN_MS = 3_600_000
const CLOCKS_APART_MS_MAX = 5 * 60_000

export function registerLogin(program: Command, context: CommandContext): void {
  program
    .command('login')
    .description('sign in at a hub by its OpenID provider')
    .option('--port <number>', 'of 127.0.0.1, for a provider that wants a fixed one', parsePort, 0)
    .option('--no-browser', 'print the address, and take the one at which the browser ended')
    .option('--force', 'sign in also while a login is good for an hour or more')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .action((options: LoginOptions) => login(context, options))
}

const HELP = `
Name the hub with --hub or SVC_HUB. svc opens the browser at the hub's OpenID provider, waits up to ten minutes for it to come back to
http://127.0.0.1, and keeps the login: a file of mode 0600 for each hub, below $XDG_CONFIG_HOME/cartorio (default ~/.config). From then
on every svc --hub of that hub uses it, unless --token-file or SVC_HUB_TOKEN_FILE names an admin token, which comes first. A login
ends by itself, after 12 hours at the latest: svc login makes the next one. With an hour or more left it says so, and leaves it.

--hub-ca names the root by which svc trusts the hub; it is kept with the login. Without a display, and through SSH, svc prints the
address for a browser anywhere, and asks for the one at which that ended (--no-browser).

Examples:
  svc login --hub https://hub.example.org:8445 --hub-ca ca.crt
  svc login --hub https://hub.example.org:8445 --no-browser
  svc login --hub https://hub.example.org:8445 --port 8400 --force
`

async function login(context: CommandContext, options: LoginOptions): Promise<void> {
  const { clock, output } = context
  const door = await context.openSignIn()
  const chosen = chooseHub(door)
  door.logins.prepare()
  const still = options.force ? undefined : await findGood(context, chosen)
  const made = still ?? (await signInAt(context, door, chosen, options))
  if (still === undefined) {
    await keepOrEnd(door, made)
    // The hub keeps a person's newest ones: those that nobody uses any more would push out others.
    if (chosen.login !== undefined && chosen.login.expiresAt > clock.now()) {
      await endAtHub(chosen.login)
    }
  }
  if (door.tokenFile !== undefined) {
    context.note(
      `${door.tokenFile} comes before this login: unset SVC_HUB_TOKEN_FILE, and leave out --token-file`,
    )
  }
  const view = viewOf(made)
  if (options.json) return output.writeJson({ ...view, is_new: still === undefined })
  if (still !== undefined) {
    await output.write(
      `signed in at ${made.hub} as ${made.name} already, until ${view.expires_at}\n`,
    )
    return
  }
  const { only, ...fields } = view
  await output.write(
    renderFields(output.language, { ...fields, ...(only === null ? {} : { only }) }),
  )
}

/** Nobody would know of a token that is not kept, and it would be good for hours. */
async function keepOrEnd({ logins }: SignInDoor, made: KeptLogin): Promise<void> {
  try {
    await logins.keep(made)
  } catch (error) {
    await endAtHub(made)
    throw error
  }
}

/** The login that is there, where it goes on for a while and the hub takes it. */
async function findGood(
  { clock }: CommandContext,
  { hub, login: kept }: ChosenHub,
): Promise<KeptLogin | undefined> {
  const leftMs = (kept?.expiresAt.getTime() ?? 0) - clock.now().getTime()
  if (kept === undefined || leftMs < RENEWED_WITHIN_MS) return undefined
  if (!isSameRoot(hub.caPem, kept.caPem)) return undefined
  const { openRemoteHub } = await import('../../doors/remote-hub.ts')
  const { operations } = openRemoteHub({ ...hub, token: kept.token, from: { login: kept } })
  try {
    await operations.showOwnToken({})
    return kept
  } catch (error) {
    if (error instanceof SvcError && error.code === 'login_ended') return undefined
    throw error
  }
}

async function signInAt(
  context: CommandContext,
  door: SignInDoor,
  { hub }: ChosenHub,
  { port, browser }: LoginOptions,
): Promise<KeptLogin> {
  const { clock } = context
  const { askProvider } = await import('../../login/sign-in-routes.ts')
  const { signIn } = await import('../../login/sign-in.ts')
  const { provider, aheadMs } = await askProvider(hub, () => clock.now())
  if (Math.abs(aheadMs) > CLOCKS_APART_MS_MAX) {
    context.note(`${describeClocks(aheadMs)}: set it right, or what has an end ends too early`)
  }
  const made = await signIn({
    hub,
    provider,
    clock,
    port,
    openBrowser: browser && door.hasBrowser ? (url) => door.openBrowser(url) : undefined,
    askLine: (question, signal) => door.askLine(question, signal),
    show: (line) => door.show(line),
  })
  if (made.expiresAt > clock.now()) return made
  await endAtHub(made)
  throw new UserError('clock_wrong', `the login is over by the clock of this machine`, {
    hint: `${describeClocks(aheadMs)}: set it right, and sign in again`,
  })
}

function describeClocks(aheadMs: number): string {
  const minutes = Math.round(Math.abs(aheadMs) / 60_000)
  return `the clock of this machine is ${minutes} min ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the hub`
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new InvalidArgumentError('a port is a number from 1 to 65535')
}
