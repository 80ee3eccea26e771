// One act of somebody: under way, refused with its reason, or done; then everything on the screen is asked for again.

import { useEffect, useRef, useState } from 'preact/hooks'
import { askFully } from '../api/client.ts'
import { HubError, HubUnreachable } from '../api/hub-error.ts'
import type { ActName, AdminReplies, AdminRequest } from '../api/operations.ts'
import { tellAct } from '../api/pace.ts'
import { announce } from './live-region.tsx'

export interface Act<Name extends ActName> {
  readonly isBusy: boolean
  readonly error: Error | undefined
  /** Answers the reply, or undefined when the hub refused or did not answer. */
  run(request: AdminRequest<Name>, options?: ActOptions): Promise<AdminReplies[Name] | undefined>
  clear(): void
}

export interface ActOptions {
  readonly ifMatch?: string | undefined
  /** Said to who does not see the screen. */
  readonly done?: string
  /** What is about to happen, where a passkey has to confirm it. */
  readonly about?: string
}

/** A click that is repeated because no answer came has the key of the first one: the hub acts once. docs/protocol.md API-16. */
export function useAct<Name extends ActName>(name: Name): Act<Name> {
  const [state, setState] = useState<{
    readonly isBusy: boolean
    readonly error: Error | undefined
  }>({
    isBusy: false,
    error: undefined,
  })
  const unanswered = useRef<{ readonly request: string; readonly key: string } | undefined>(
    undefined,
  )
  const { error: refusal } = state
  const clear = (): void => setState({ isBusy: false, error: undefined })
  useEffect(() => {
    if (refusal === undefined) return undefined
    // What was refused is no longer what is typed. After the event: a box is checked between two events of one click.
    const clearSoon = (): void => void setTimeout(clear)
    addEventListener('input', clearSoon, { once: true })
    return () => removeEventListener('input', clearSoon)
  }, [refusal])
  return {
    ...state,
    clear,
    run: async (request, { ifMatch, done, about } = {}) => {
      setState({ isBusy: true, error: undefined })
      const text = JSON.stringify(request)
      const known = unanswered.current
      const idempotencyKey = known?.request === text ? known.key : crypto.randomUUID()
      try {
        const { body } = await askFully(name, request, { ifMatch, idempotencyKey, about })
        unanswered.current = undefined
        setState({ isBusy: false, error: undefined })
        if (done !== undefined) announce(done)
        tellAct()
        return body
      } catch (error) {
        if (!(error instanceof HubError || error instanceof HubUnreachable)) throw error
        unanswered.current =
          error instanceof HubUnreachable ? { request: text, key: idempotencyKey } : undefined
        setState({ isBusy: false, error })
        return undefined
      }
    },
  }
}
