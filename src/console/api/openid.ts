// Signing in by an OpenID provider: begun here, gone on there, and finished here with what this tab alone kept. docs/protocol.md OID.

import { encode, sha256, toBase64Url } from '../../audit/browser/bytes.ts'
import type {
  OpenidCode,
  OpenidFinish,
  OpenidSignIn,
  OpenidStarted,
} from '../../protocol/admin/openid.ts'
import { reach, readError } from './client.ts'
import { HubError } from './hub-error.ts'
import { signIn } from './sign-in.ts'

/** As the provider sent it along with the browser. */
export interface ProviderAnswer {
  readonly code: string | null
  readonly state: string
  readonly iss: string | null
  /** Why it signed nobody in, in a word of RFC 6749. */
  readonly error: string | null
}

interface Begun {
  readonly secret: string
  /** Where the person wanted to go. */
  readonly screen: string
}

const SHOW = '/v1/admin/oidc'
const BEGUN = 'cartorio.sign-in'
const BUSY_AGAIN_MS = 1500
const ATTEMPTS = 4

/** Undefined where the provider cannot send anybody back to this page; throws where there is none. */
export async function findProvider(): Promise<string | undefined> {
  const response = await reach(SHOW, { method: 'GET' })
  if (!response.ok) throw await readError(response)
  const { name, console: isForConsole } = (await response.json()) as OpenidSignIn
  return isForConsole ? name : undefined
}

/** Leaves this page. Other tabs cannot read what is kept: who brings the answer elsewhere signs nobody in. */
export async function goToProvider(screen: string): Promise<void> {
  const secret = toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
  const key = toBase64Url(await sha256(encode(secret)))
  const { url } = (await post(`${SHOW}/start`, { for: 'console', key })) as OpenidStarted
  sessionStorage.setItem(BEGUN, JSON.stringify({ secret, screen } satisfies Begun))
  location.assign(url)
}

/** Once, whatever comes of it. */
export function takeBegun(): Begun | undefined {
  const text = sessionStorage.getItem(BEGUN)
  sessionStorage.removeItem(BEGUN)
  return text === null ? undefined : (JSON.parse(text) as Begun)
}

export async function finishSignIn(
  { state, iss }: ProviderAnswer,
  code: string,
  secret: string,
): Promise<void> {
  const request: OpenidFinish = { code, state, secret, ...(iss !== null && { iss }) }
  const { code: signInCode } = (await postUnlessBusy(`${SHOW}/finish`, request)) as OpenidCode
  await signIn(signInCode)
}

/** The hub asks the provider for a few people at a time. */
async function postUnlessBusy(path: string, body: object): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await post(path, body)
    } catch (error) {
      const isBusy = error instanceof HubError && error.status === 429
      if (!isBusy || attempt === ATTEMPTS) throw error
      await new Promise((again) => setTimeout(again, BUSY_AGAIN_MS))
    }
  }
}

async function post(path: string, body: object): Promise<unknown> {
  const response = await reach(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.ok) return response.json()
  throw await readError(response)
}
