// An act that waits for a passkey: the hub has asked for it, and nothing is done yet. docs/protocol.md PKY-4.

import { signal } from '@preact/signals'
import { ownHalf, session } from './session.ts'

export const CONFIRMATION_HEADER = 'cartorio-confirmation'

/** What is sent once more when it is confirmed. */
export interface UnconfirmedRequest {
  /** What is about to happen, in the words of the screen. */
  readonly about: string
  readonly method: string
  readonly url: string
  readonly body: string
}

export interface WaitingConfirmation extends UnconfirmedRequest {
  /** With the header that confirms it, or undefined when nobody does. */
  readonly settle: (confirmation: string | undefined) => void
}

/** One at a time: its dialog lies over everything else. */
export const waitingConfirmation = signal<WaitingConfirmation | undefined>(undefined)

export function awaitConfirmation(
  request: UnconfirmedRequest,
  leaving: AbortSignal | undefined,
): Promise<string | undefined> {
  waitingConfirmation.peek()?.settle(undefined)
  const asking = ownHalf()
  return new Promise((resolve) => {
    const settle = (confirmation: string | undefined): void => {
      if (waitingConfirmation.peek() === waiting) waitingConfirmation.value = undefined
      stopFollowing()
      resolve(confirmation)
    }
    const waiting: WaitingConfirmation = { ...request, settle }
    leaving?.addEventListener('abort', () => settle(undefined), { once: true })
    waitingConfirmation.value = waiting
    // What another session asked, no passkey confirms: who is in next is asked nothing of it.
    const stopFollowing = session.subscribe(() => {
      if (ownHalf() !== asking) settle(undefined)
    })
  })
}
