// The hub's clock, since countdowns are about what the hub says, and a laptop's clock may be wrong.

import { signal } from '@preact/signals'

let offsetMs = 0

/** When the hub last answered anything, by its clock. */
export const lastAnswerAtMs = signal<number | undefined>(undefined)

/** From the `Date` of an answer, which has whole seconds: what is less than two of them apart is the same time. */
export function setClock(date: string | null): void {
  const hubMs = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(hubMs)) return
  const apartMs = hubMs - Date.now()
  lastAnswerAtMs.value = hubMs
  if (Math.abs(apartMs - offsetMs) > 2000) offsetMs = Math.abs(apartMs) > 2000 ? apartMs : 0
}

export function hubNowMs(): number {
  return Date.now() + offsetMs
}

const TICK_MS = 1000

/** The hub's time, once a second while somebody looks. */
export const now: { readonly value: number } = startTicking()

function startTicking(): { readonly value: number } {
  const ticking = signal(hubNowMs())
  setInterval(() => {
    if (document.visibilityState === 'visible') ticking.value = hubNowMs()
  }, TICK_MS)
  document.addEventListener('visibilitychange', () => {
    ticking.value = hubNowMs()
  })
  return ticking
}
