// A sign-in from its start at the hub to its end there: the browser, or a person with an address in hand, comes between. docs/protocol.md
// OID-31 to OID-33.

import { hash, randomBytes, randomInt } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import { removeOnSignal } from '../../platform/remove-on-signal.ts'
import { unlessAborted } from '../../platform/unless-aborted.ts'
import { signInAgain } from '../doors/hints.ts'
import type { HubAddress } from '../doors/hub-options.ts'
import { type KeptLogin, newKeptLogin } from '../doors/kept-login.ts'
import type { OpenidToken } from '../../protocol/admin/openid.ts'
import type { OpenedLink } from '../terminal/open-in-browser.ts'
import { type CallbackListener, openCallbackListener } from './callback-listener.ts'
import { refusedPage, SIGNED_IN } from './callback-page.ts'
import { explainProviderRefusal } from './explain-refusal.ts'
import type { Callback } from './judge-callback.ts'
import { readPasted } from './read-pasted.ts'
import { notAHub } from '../doors/hub-connection.ts'
import { finishSignIn, type Provider, type StartedSignIn, startSignIn } from './sign-in-routes.ts'

export interface SignInOptions {
  readonly hub: HubAddress
  readonly provider: Provider
  readonly clock: Clock
  /** 0 for one that is free. */
  readonly port: number
  /** How the person comes to the provider; undefined where the browser is on another machine. */
  readonly openBrowser: ((url: string) => Promise<OpenedLink>) | undefined
  /** Asks for the address at which that browser ended; undefined when the input ends. */
  readonly askLine: (question: string, signal: AbortSignal) => Promise<string | undefined>
  /** A line for the person, whole. */
  readonly show: (line: string) => void
}

interface Answered {
  readonly callback: Callback
  readonly answer: ((shown: typeof SIGNED_IN) => Promise<void>) | undefined
}

interface BrowserWait {
  readonly listener: CallbackListener
  readonly openBrowser: (url: string) => Promise<OpenedLink>
  readonly signal: AbortSignal
}

const SECRET_BYTES = 32
/** As long as the hub takes an answer. */
const WAIT_MINUTES = 10
const PASTES_MAX = 5
/** Where nothing listens on the person's own machine, most likely: ports of no service, below those that systems give out. */
const PASTE_PORTS = { from: 20_000, to: 30_000 } as const

export async function signIn(options: SignInOptions): Promise<KeptLogin> {
  const { hub, clock, openBrowser } = options
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const key = hash('sha256', secret, 'base64url')
  await using listening = new AsyncDisposableStack()
  const listener = openBrowser && (await openCallbackListener(options.port))
  if (listener !== undefined) listening.defer(() => listener.close())
  const port = listener?.port ?? choosePort(options.port)
  const started = await startSignIn(hub, { port, key })
  const { callback, answer } = await withinMinutes(clock, hub, (signal) =>
    listener === undefined || openBrowser === undefined
      ? askForAddress(options, started, port, signal)
      : waitForBrowser(options, started, { listener, openBrowser, signal }),
  )
  try {
    if (callback.kind === 'refused') throw explainProviderRefusal(callback)
    const { code, iss } = callback
    const finished = { code, state: started.state, secret, ...(iss !== undefined && { iss }) }
    const made = await finishSignIn(hub, finished)
    const login = makeLogin(options, made)
    await answer?.(SIGNED_IN)
    return login
  } catch (error) {
    await answer?.(refusedPage(error instanceof SvcError ? error.message : 'svc failed'))
    throw error
  }
}

function makeLogin({ hub, provider }: SignInOptions, made: OpenidToken): KeptLogin {
  const { url, caPem = null } = hub
  const login = newKeptLogin({ ...made, hub: url.origin, hub_ca: caPem, provider })
  if (login !== undefined) return login
  throw notAHub(hub, 'its answer is none to a sign-in')
}

function choosePort(wanted: number): number {
  return wanted === 0 ? randomInt(PASTE_PORTS.from, PASTE_PORTS.to) : wanted
}

async function withinMinutes<T>(
  clock: Clock,
  hub: HubAddress,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const late = clock.sleep(WAIT_MINUTES * 60_000, over.signal).then(() => {
    throw new UserError('sign_in_timeout', `nobody signed in within ${WAIT_MINUTES} minutes`, {
      hint: `${signInAgain(hub.url.origin)} begins again; --no-browser when the browser is on another machine`,
    })
  })
  try {
    return await Promise.race([work(over.signal), late])
  } finally {
    over.abort(new Error('the sign-in is over'))
    await late.catch(() => undefined)
  }
}

async function waitForBrowser(
  { provider, show }: SignInOptions,
  { url, state }: StartedSignIn,
  { listener, openBrowser, signal }: BrowserWait,
): Promise<Answered> {
  const answered = unlessAborted(listener.waitFor(state), signal)
  // Until somebody waits for it: a browser that cannot be started is told of first.
  answered.catch(() => undefined)
  show(`Sign in at ${provider.name} in your browser. If it does not open, open this address:`)
  show(url)
  const opened = await openBrowser(url)
  try {
    if (opened.fault !== undefined) show(`no browser was started: ${opened.fault}`)
    show(`waiting up to ${WAIT_MINUTES} minutes for ${provider.name}; Ctrl-C ends it`)
    // The address is in a file for the browser; somebody who has it could sign the person in as somebody else.
    return await removeOnSignal(opened.directory, () => answered)
  } finally {
    await opened.forget()
  }
}

async function askForAddress(
  { provider, show, askLine }: SignInOptions,
  { url, state }: StartedSignIn,
  port: number,
  signal: AbortSignal,
): Promise<Answered> {
  show(`Open this address in a browser, on any machine, and sign in at ${provider.name}:`)
  show(url)
  show(
    `The browser ends at an address that it cannot show: http://127.0.0.1:${port}/callback?… Copy all of it.`,
  )
  for (let pastes = 0; pastes < PASTES_MAX; pastes += 1) {
    const pasted = await askLine('paste the address here, within 10 minutes:', signal)
    if (pasted === undefined) break
    const callback = readPasted(pasted, { port, state })
    if (typeof callback !== 'string') return { callback, answer: undefined }
    show(callback)
  }
  throw new UserError('sign_in_cancelled', 'no address of this sign-in was pasted', {
    hint: 'svc login needs a person at a terminal; programs use --token-file',
  })
}
