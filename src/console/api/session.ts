// Who is signed in. Of a session's two halves the browser keeps one in a cookie that no script reads; the other one is here, and
// goes along as a header. A page of another port has the cookie only. docs/protocol.md SES.

import { batch, signal } from '@preact/signals'
import { includesRole } from '../../protocol/admin/roles.ts'
import {
  type AdminOperationName,
  type AdminRole,
  isForSomeHosts,
  roleNeeded,
} from './operations.ts'

export interface SignedIn {
  readonly name: string
  readonly role: AdminRole
  /** The selector of the hosts that the token is for; null for all. */
  readonly only: string | null
  readonly endsAt: string
}

/** Who is in, or was in when the session ended. */
interface Holder extends SignedIn {
  /** With another one, screens are drawn from the beginning, and nothing that was typed into them is left. */
  readonly screens: number
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
/** Why the half is gone, for the other tabs; written before they are told that it is. */
const OVER = 'cartorio.session-over'
/** In the place of a reason, while somebody signs out: a tab may hear of the end from the hub first. */
const LEAVING = 'leaving'
const HEADER = 'cartorio-session'
const UNATTENDED_HEADER = 'cartorio-unattended'
/** So long after the last key or click, what the page asks is asked by nobody. */
const ATTENDED_MS = 60_000

export const session = signal<Session>({ state: 'unknown' })
/** While a session has ended, the one whose screen it is. */
export const holder = signal<Holder | undefined>(undefined)

/** The half that this page runs with: another tab may have put another one into the storage. */
let half: string | undefined
let screens = 0
let lastTouchAtMs = Date.now()
/** Told whether the screen stays, for another one to go on with. */
type Forget = (isScreenKept: boolean) => void
const forgetters = new Set<Forget>()

/** What is kept of one person is dropped by these before another one is in. Answers how to take it back. */
export function onForget(forget: Forget): () => void {
  forgetters.add(forget)
  return () => {
    forgetters.delete(forget)
  }
}

export function ownHalf(): string | undefined {
  return half
}

export function storedHalf(): string | undefined {
  return localStorage.getItem(HALF) ?? undefined
}

/** Other tabs of this origin read the half from the same place, and are told. */
export function storeHalf(started: string): void {
  localStorage.removeItem(OVER)
  localStorage.setItem(HALF, started)
}

export function sessionHeaders(used: string | undefined): Readonly<Record<string, string>> {
  if (used === undefined) return {}
  const isUnattended = Date.now() - lastTouchAtMs > ATTENDED_MS
  return { [HEADER]: used, ...(isUnattended && { [UNATTENDED_HEADER]: '1' }) }
}

export function enter(entered: string, { name, role, only, endsAt }: SignedIn): void {
  const last = holder.peek()
  const isSame = last?.name === name && last.role === role && last.only === only
  // Below the dialog of an ended session everybody at this browser sees the screen; other hosts are another matter.
  const out = session.peek()
  const isScreenKept = out.state === 'out' && out.wasIn && last?.only === only
  if (!isSame) tellForgetters(isScreenKept)
  half = entered
  if (!isSame && !isScreenKept) screens += 1
  batch(() => {
    holder.value = { name, role, only, endsAt, screens }
    session.value = { state: 'in', name, role, only, endsAt }
  })
}

/** Takes the half that was of no use out of the storage, unless another one is there. */
export function leave(reason: 'none' | 'left' | 'ended', used: string | undefined = half): void {
  if (used !== undefined && storedHalf() === used) {
    localStorage.setItem(OVER, reason)
    localStorage.removeItem(HALF)
  }
  goOut(reason)
}

/** All tabs know that the end to come is wanted; `false` takes it back. */
export function markLeaving(isLeaving: boolean): void {
  if (isLeaving) localStorage.setItem(OVER, LEAVING)
  else localStorage.removeItem(OVER)
}

/** Another tab took the half out: people who signed out see nothing more, forms of an ended session stay. */
function leaveAsOtherTab(): void {
  if (session.peek().state !== 'in') return
  goOut(localStorage.getItem(OVER) === 'ended' ? 'ended' : 'left')
}

function goOut(reason: 'none' | 'left' | 'ended'): void {
  const before = session.peek()
  const wasIn = before.state === 'in' || (before.state === 'out' && before.wasIn)
  half = undefined
  if (reason !== 'ended') {
    holder.value = undefined
    tellForgetters(false)
  }
  session.value = { state: 'out', reason, wasIn: wasIn && reason === 'ended' }
}

function tellForgetters(isScreenKept: boolean): void {
  for (const forget of forgetters) forget(isScreenKept)
}

/** Otherwise the hub would refuse whatever is asked, and its log would say so each time. */
export function isIn(): boolean {
  return session.peek().state === 'in' && storedHalf() === half
}

/** What is on the screen stays below the dialog that says so: a typed form is not lost. */
export function endedByHub(used: string | undefined): void {
  if (session.peek().state !== 'in' || used !== half) return
  leave(localStorage.getItem(OVER) === LEAVING ? 'left' : 'ended')
}

/** By the role, whatever hosts the token is for. */
export function isAtLeast(role: AdminRole): boolean {
  const { value } = holder
  return value !== undefined && includesRole(value.role, role)
}

/** Whether a token that is for some hosts only may ask for it at all. */
export function isWithinBound(name: AdminOperationName): boolean {
  const only = holder.value?.only ?? null
  return only === null || isForSomeHosts(name)
}

export function isAllowed(name: AdminOperationName): boolean {
  return isAtLeast(roleNeeded(name)) && isWithinBound(name)
}

for (const type of ['pointerdown', 'keydown', 'wheel']) {
  addEventListener(type, () => (lastTouchAtMs = Date.now()), { passive: true })
}

/** What another tab did: `changed` has the half that it put there. */
export function followOtherTabs(changed: (stored: string) => void): void {
  addEventListener('storage', ({ key }) => {
    if (key !== HALF && key !== null) return
    const stored = storedHalf()
    if (stored === undefined) leaveAsOtherTab()
    else if (stored !== half) changed(stored)
  })
}
