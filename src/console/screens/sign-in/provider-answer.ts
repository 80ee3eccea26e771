// What an OpenID provider sent the browser back with: out of the address at once, and used once.

import { signal } from '@preact/signals'
import type { ProviderAnswer } from '../../api/openid.ts'
import { BASE, goTo, here } from '../../frame/router.ts'

/** Asks the page of a new tab to go on to the provider. */
export const AGAIN = 'again'

const answer = signal<ProviderAnswer | undefined>(undefined)
const wanted = signal(false)

/** Before anything else is asked: no request has it, and neither does the history. */
export function takeProviderAnswer(): void {
  const { path, query } = here.peek()
  if (path !== '/sign-in') return
  const { code = null, state, iss = null, error = null, [AGAIN]: again } = query
  if (state === undefined && again === undefined) return
  goTo(`${BASE}/sign-in`, { isReplacing: true })
  if (state === undefined) wanted.value = true
  else answer.value = { code, state, iss, error }
}

export function useUpAnswer(): ProviderAnswer | undefined {
  const taken = answer.peek()
  answer.value = undefined
  return taken
}

/** Whether this tab was opened to go on to the provider. */
export function useUpWish(): boolean {
  const isWanted = wanted.peek()
  wanted.value = false
  return isWanted
}

/** Of who is in already: else signing out would lead straight back to the provider, which knows the person still. */
export function dropProviderAnswer(): void {
  useUpAnswer()
  useUpWish()
}
