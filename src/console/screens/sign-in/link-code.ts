// The code of a link that works once: out of the address at once, and used only where somebody is told in whose place.

import { signal } from '@preact/signals'
import { BASE, goTo, here, hrefOf } from '../../frame/router.ts'

/** Not used yet. */
export const linkCode = signal<string | undefined>(undefined)

/** Out of the fragment, which no server sees. */
export function takeLinkCode(): void {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return
  goTo(`${BASE}/sign-in`, { isReplacing: true })
  linkCode.value = code
}

/** A link that is opened where the page is the same one loads no page. */
export function followLinkCodes(): void {
  takeLinkCode()
  addEventListener('hashchange', takeLinkCode)
}

/** It works once, so nobody has it twice. */
export function useUpLinkCode(): string | undefined {
  const code = linkCode.peek()
  linkCode.value = undefined
  return code
}

/** Who is in has nothing to do at the place where one signs in. */
export function leaveSignIn(): void {
  if (here.peek().path === '/sign-in') goTo(hrefOf('/'), { isReplacing: true })
}
