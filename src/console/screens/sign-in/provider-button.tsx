// To the OpenID provider, where the hub has one.

import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { findProvider, finishSignIn, goToProvider, takeBegun } from '../../api/openid.ts'
import { HubError } from '../../api/hub-error.ts'
import { BASE, goTo, hrefOf } from '../../frame/router.ts'
import { words } from '../../words/words.ts'
import { AGAIN, useUpAnswer, useUpWish } from './provider-answer.ts'

interface ProviderSignInProps {
  /** Over a screen that must not be left, it is another tab that goes. */
  readonly isOverScreen: boolean
  readonly isBusy: boolean
  readonly setBusy: (isBusy: boolean) => void
  readonly setFault: (fault: string) => void
}

export function ProviderSignIn(props: ProviderSignInProps): JSX.Element | null {
  const { isOverScreen, isBusy, setBusy, setFault } = props
  const { signIn: text } = words()
  const [provider, setProvider] = useState<string | undefined>(undefined)
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setFault('')
    try {
      await work()
    } catch (error) {
      setFault(describeFault(error))
      setBusy(false)
    }
  }
  useEffect(() => {
    // Without an answer there is no button: the token's way is there.
    void findProvider().then(setProvider, () => undefined)
    if (isOverScreen) return
    if (useUpWish()) void attempt(() => goToProvider(hrefOf('/')))
    const answer = useUpAnswer()
    if (answer !== undefined) void attempt(() => finish(answer))
  }, [])
  if (provider === undefined) return null
  const label = text.withProvider(provider)
  if (isOverScreen) {
    return (
      <a class="button primary" href={hrefOf('/sign-in', { [AGAIN]: '1' })} target="_blank">
        {label}
      </a>
    )
  }
  return (
    <button
      type="button"
      class="button primary"
      disabled={isBusy}
      onClick={() => void attempt(() => goToProvider(screenHere()))}
    >
      {label}
    </button>
  )
}

/** Where the person wanted to go. */
function screenHere(): string {
  const { pathname, search } = location
  return pathname === `${BASE}/sign-in` ? hrefOf('/') : `${pathname}${search}`
}

async function finish(answer: NonNullable<ReturnType<typeof useUpAnswer>>): Promise<void> {
  const begun = takeBegun()
  const { signIn: text } = words()
  // A link that somebody sent says nothing here, not even in the provider's words.
  if (begun === undefined) throw new SignInFault(text.begunElsewhere)
  if (answer.code === null) {
    const why = answer.error ?? ''
    throw new SignInFault(text.providerRefused(/^[a-z_]{1,40}$/.test(why) ? why : ''))
  }
  await finishSignIn(answer, answer.code, begun.secret)
  goTo(begun.screen, { isReplacing: true })
}

/** In the words of the page. */
class SignInFault extends Error {}

function describeFault(error: unknown): string {
  const { signIn: text } = words()
  if (error instanceof SignInFault) return error.message
  if (!(error instanceof HubError)) return text.unreachable
  const { code, status, message, details } = error
  const name = typeof details['name'] === 'string' ? details['name'] : ''
  if (code === 'sign_in_no_role') return text.noRole(name)
  if (code === 'sign_in_name_taken') return text.nameTaken(name)
  if (code === 'sign_in_state_invalid') return text.begunElsewhere
  if (code === 'sign_in_provider_unavailable') return text.providerAway
  if (code === 'sign_in_provider_refused' || code === 'sign_in_name_invalid') {
    return text.providerFault(message)
  }
  return status === 429 ? text.tooMany : message
}
