// The first screen: an OpenID provider, an admin token, or a link that works once.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { HubError } from '../../api/hub-error.ts'
import { holder, session } from '../../api/session.ts'
import { signIn } from '../../api/sign-in.ts'
import { svc } from '../../commands/svc.ts'
import { Command } from '../../parts/command.tsx'
import { words } from '../../words/words.ts'
import { ProviderSignIn } from './provider-button.tsx'
import { leaveSignIn, linkCode, useUpLinkCode } from './link-code.ts'

export function SignInScreen(): JSX.Element {
  const { signIn: text } = words()
  useEffect(() => {
    document.title = `${text.title} · Cartorio`
  }, [])
  return (
    <main class="sign-in" id="main">
      <SignInForm isForLink />
    </main>
  )
}

/** Over a screen whose session has ended: what was typed there stays. */
export function SignInAgain(): JSX.Element {
  const { signIn: text } = words()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class="sign-in-again"
      aria-label={text.title}
      onCancel={(event) => event.preventDefault()}
    >
      <SignInForm />
    </dialog>
  )
}

/** A link that is opened where somebody is in already: nobody is exchanged unasked. */
export function UseLink(): JSX.Element | null {
  return linkCode.value === undefined ? null : <UseLinkDialog />
}

function UseLinkDialog(): JSX.Element {
  const { signIn: text } = words()
  const dialog = useRef<HTMLDialogElement>(null)
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const decline = (): void => {
    useUpLinkCode()
    leaveSignIn()
  }
  const accept = async (): Promise<void> => {
    const code = linkCode.peek()
    if (code === undefined) return
    setBusy(true)
    try {
      await signIn(code)
      useUpLinkCode()
      leaveSignIn()
    } catch (error) {
      setFault(describeFault(error, true))
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} class="card" aria-label={text.title} onClose={decline}>
      <header>
        <h2>{text.title}</h2>
      </header>
      <div class="body commands">
        <p>{text.useLink(holder.value?.name ?? '')}</p>
        {fault !== '' && (
          <p class="c-bad" role="alert">
            {fault}
          </p>
        )}
        <button
          type="button"
          class="button primary"
          disabled={isBusy || fault !== ''}
          onClick={() => void accept()}
        >
          {text.useLinkButton}
        </button>
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          {text.stay}
        </button>
      </div>
    </dialog>
  )
}

function SignInForm({ isForLink = false }: { readonly isForLink?: boolean }): JSX.Element {
  const { signIn: text } = words()
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)
  const enter = async (credential: string, isLink: boolean): Promise<void> => {
    setBusy(true)
    setFault('')
    try {
      await signIn(credential)
      leaveSignIn()
    } catch (error) {
      setFault(describeFault(error, isLink))
      setBusy(false)
    }
  }
  const waiting = linkCode.value
  useEffect(() => {
    const code = isForLink ? useUpLinkCode() : undefined
    if (code !== undefined) void enter(code, true)
  }, [waiting])
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('token')
    const token = field instanceof HTMLInputElement ? field.value.trim() : ''
    if (token === '') setFault(text.empty)
    else void enter(token, false)
  }
  return (
    <form class="card" onSubmit={submit}>
      <h1>Cartorio</h1>
      <p class="muted">{location.hostname}</p>
      <WhyOut />
      <ProviderSignIn
        isOverScreen={!isForLink}
        isBusy={isBusy}
        setBusy={setBusy}
        setFault={setFault}
      />
      <label for="token">{text.token}</label>
      <input
        id="token"
        name="token"
        type="password"
        autocomplete="current-password"
        spellcheck={false}
        autofocus
        aria-describedby="sign-in-hint"
        aria-invalid={fault === '' ? undefined : true}
      />
      {fault !== '' && (
        <p class="c-bad" role="alert">
          {fault}
        </p>
      )}
      <button type="submit" class="button primary" disabled={isBusy}>
        {isBusy ? text.submitting : text.submit}
      </button>
      <div id="sign-in-hint" class="muted">
        <p>{text.intro}</p>
        <p>{text.hint}</p>
        <Command text={svc.signInByLink} />
      </div>
    </form>
  )
}

function WhyOut(): JSX.Element | null {
  const { signIn: text } = words()
  const { value } = session
  if (value.state !== 'out' || value.reason === 'none') return null
  if (value.reason === 'left') return <p role="status">{text.left}</p>
  return (
    <p role="status">
      {text.ended} {value.wasIn && text.kept}
    </p>
  )
}

function describeFault(error: unknown, isLink: boolean): string {
  const { signIn: text } = words()
  if (!(error instanceof HubError)) return text.unreachable
  if (error.status === 429) return text.tooMany
  if (error.status === 401) return isLink ? text.linkRefused : text.refused
  return error.message
}
