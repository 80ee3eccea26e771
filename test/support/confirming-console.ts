// A hub that asks sessions to confirm, and people with passkeys in front of it.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createConfirmations } from '../../src/hub/service/admin/passkeys/confirmations.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminRole } from '../../src/protocol/admin/roles.ts'
import { NOW } from '../store/store-samples.ts'
import type { Store } from '../../src/hub/store/store.ts'
import {
  actsOf,
  CONSOLE_ORIGIN,
  headersOf,
  openDoors,
  type Page,
  signIn,
  UNLIMITED,
} from './console-page.ts'
import { waitUntil } from './processes.ts'
import { createSettableClock } from './settable-clock.ts'
import {
  type KeyKind,
  type Quirks,
  type RegistrationQuirks,
  SoftwareAuthenticator,
} from './software-authenticator.ts'
import { openTemporaryStore } from './temporary-store.ts'
import { openAdmin } from './told-admin.ts'
import { send, type Target, type WireReply } from './wire-client.ts'

export const PASSKEYS = '/v1/admin/passkeys'
export const CONFIRMATIONS = '/v1/admin/confirmations'
/** An act that has to be confirmed. */
export const POLICY: Sent = {
  path: '/v1/admin/politicas',
  body: '{"role":"web","token_ttl_max":600}',
}

/** What a page sends. */
export interface Sent {
  readonly path: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Somebody whose browser has a session, and whose authenticator answers. */
export class PasskeyPerson {
  readonly page: Page
  readonly authenticator: SoftwareAuthenticator
  readonly #target: Target
  readonly #origin: string

  constructor(target: Target, page: Page, origin = CONSOLE_ORIGIN, kind: KeyKind = 'ES256') {
    this.#target = target
    this.#origin = origin
    this.page = page
    this.authenticator = new SoftwareAuthenticator(kind)
  }

  ask(path: string, request?: object, headers: Readonly<Record<string, string>> = {}) {
    if (request !== undefined) {
      return this.send({ path, body: JSON.stringify(request), headers })
    }
    return send(this.#target, { path, headers: { ...headersOf(this.page), ...headers } })
  }

  send({ path, body, headers = {} }: Sent): Promise<WireReply> {
    return send(this.#target, {
      method: 'POST',
      path,
      headers: { ...headersOf(this.page), 'content-type': 'application/json', ...headers },
      body,
    })
  }

  /** The header that confirms what is sent. */
  async confirm({ path, body }: Sent, quirks: Quirks = {}): Promise<string> {
    const asked = await this.ask(CONFIRMATIONS, { request_sha256: hashOf(path, body) })
    assert.equal(asked.status, 200, asked.text)
    return encode(this.authenticator.get(asked.json['options'], this.#origin, quirks))
  }

  /** As the page does it: asked, confirmed, asked again. */
  async confirmed(path: string, request: object, quirks: Quirks = {}): Promise<WireReply> {
    const sent = { path, body: JSON.stringify(request) }
    const confirmation = await this.confirm(sent, quirks)
    return this.send({ ...sent, headers: { 'cartorio-confirmation': confirmation } })
  }

  async makeCredential(quirks: RegistrationQuirks = {}, made = this.authenticator) {
    const asked = await this.ask(`${PASSKEYS}/prepare`, {})
    assert.equal(asked.status, 200, asked.text)
    return made.create(asked.json['options'], this.#origin, quirks)
  }

  async register(label = 'YubiKey 5', quirks: RegistrationQuirks = {}): Promise<WireReply> {
    return this.ask(PASSKEYS, { label, credential: await this.makeCredential(quirks) })
  }
}

export async function payloadsOf(
  store: Store,
  type: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await actsOf(store, type)).map(([, payload]) => payload as Record<string, unknown>)
}

/** The first one: it is written in the background. */
export function awaitRefusal(store: Store): Promise<Readonly<Record<string, unknown>>> {
  return waitUntil(
    'a refusal is recorded',
    async () => (await payloadsOf(store, 'admin_refused'))[0],
  )
}

function hashOf(path: string, body: string): string {
  return createHash('sha256').update(`POST ${path}\n${body}`).digest('hex')
}

export function encode(assertion: object): string {
  return Buffer.from(JSON.stringify(assertion)).toString('base64url')
}

export async function openConfirmingConsole() {
  const stack = new AsyncDisposableStack()
  const store = stack.use(await openTemporaryStore())
  const clock = createSettableClock(NOW)
  const { admin } = openAdmin(store, { clock })
  const party = { id: 'hub.test', origin: CONSOLE_ORIGIN }
  const confirmations = createConfirmations(party, new Secret(randomBytes(32)))
  const { target } = stack.use(await openDoors(store, clock, { limits: UNLIMITED, confirmations }))
  const makeToken = async (name: string, role: AdminRole): Promise<string> =>
    (await admin.createAccessToken({ name, role })).token
  return {
    store,
    clock,
    admin,
    target,
    makeToken,
    /** Signed in, without a passkey. */
    enter: async (name: string, role: AdminRole = 'admin', kind?: KeyKind) => {
      const token = await makeToken(name, role)
      const person = new PasskeyPerson(target, await signIn(target, token), CONSOLE_ORIGIN, kind)
      return Object.assign(person, { token })
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
