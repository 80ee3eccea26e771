// Who is signed in. Of a session's two halves the browser keeps one in a cookie that no script reads; the other one is here, and
// goes along as a header. A page of another port has the cookie only. docs/protocol.md SES.

import { signal } from '@preact/signals'
import type { AdminRole } from './operations.ts'

export interface SignedIn {
  readonly name: string
  readonly role: AdminRole
  /** The selector of the hosts that the token is for; null for all. */
  readonly only: string | null
  readonly endsAt: string
}

export type Session =
  | { readonly state: 'unknown' }
  | {
      readonly state: 'out'
      readonly reason: 'none' | 'left' | 'ended'
      /** In this page: what is on its screen stays, below the question who it is. */
      readonly wasIn: boolean
    }
  | ({ readonly state: 'in' } & SignedIn)

const HALF = 'cartorio.session'
const HEADER = 'cartorio-session'
const UNATTENDED_HEADER = 'cartorio-unattended'
/** So long after the last key or click, what the page asks is asked by nobody. */
const ATTENDED_MS = 60_000
const LEVELS: readonly AdminRole[] = ['viewer', 'operator', 'admin']

export const session = signal<Session>({ state: 'unknown' })

let lastTouchAtMs = Date.now()

export function sessionHeaders(): Readonly<Record<string, string>> {
  const half = localStorage.getItem(HALF)
  if (half === null) return {}
  const isUnattended = Date.now() - lastTouchAtMs > ATTENDED_MS
  return { [HEADER]: half, ...(isUnattended && { [UNATTENDED_HEADER]: '1' }) }
}

export function hasHalf(): boolean {
  return localStorage.getItem(HALF) !== null
}

/** Other tabs of this origin read the half from the same place. */
export function enter(half: string | undefined, who: SignedIn): void {
  if (half !== undefined) localStorage.setItem(HALF, half)
  session.value = { state: 'in', ...who }
}

export function leave(reason: 'none' | 'left' | 'ended'): void {
  localStorage.removeItem(HALF)
  session.value = { state: 'out', reason, wasIn: session.value.state === 'in' }
}

/** The hub would refuse whatever is asked, and its log would say so each time. */
export function isOut(): boolean {
  return session.peek().state === 'out'
}

/** What is on the screen stays below the dialog that says so: a typed form is not lost. */
export function endedByHub(code: string): void {
  if (session.value.state === 'out') return
  leave(code === 'session_ended' || session.value.state === 'in' ? 'ended' : 'none')
}

export function isAtLeast(role: AdminRole): boolean {
  const { value } = session
  return value.state === 'in' && LEVELS.indexOf(value.role) >= LEVELS.indexOf(role)
}

for (const type of ['pointerdown', 'keydown', 'wheel']) {
  addEventListener(type, () => (lastTouchAtMs = Date.now()), { passive: true })
}

/** Signing out in one tab signs out all of them. */
addEventListener('storage', ({ key, newValue }) => {
  if (key === HALF && newValue === null)
    session.value = { state: 'out', reason: 'left', wasIn: false }
})
