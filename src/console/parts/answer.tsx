// What a query shows before its first answer, after a failed one, and with nothing in it.

import { useEffect, useState } from 'preact/hooks'
import type { ComponentChildren, JSX } from 'preact'
import { HubError, HubUnreachable } from '../api/hub-error.ts'
import type { Shown } from '../api/query.ts'
import { words } from '../words/words.ts'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'

const LAYOUT_AFTER_MS = 200

/** The children get an answer; an earlier one stays while later requests fail. */
export function Answer<Data>({
  shown,
  children,
}: {
  readonly shown: Shown<Data>
  readonly children: (data: Data) => ComponentChildren
}): JSX.Element {
  const { data, error } = shown
  if (data === undefined)
    return error === undefined ? <Loading /> : <Failure error={error} asksAgain="empty" />
  return (
    <>
      {error !== undefined && !(error instanceof HubUnreachable) && <Failure error={error} />}
      {children(data)}
    </>
  )
}

/** Nothing at first: most answers come sooner than an eye sees a change. */
function Loading(): JSX.Element | null {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), LAYOUT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isSlow) return <div aria-busy="true" />
  return (
    <div class="layout-only" aria-busy="true">
      <span class="visually-hidden">{words().frame.loading}</span>
      <i />
      <i />
      <i />
    </div>
  )
}

export function Failure({
  error,
  asksAgain = 'no',
}: {
  readonly error: Error
  /** Whether the page asks again by itself, and what it shows meanwhile. */
  readonly asksAgain?: 'shown' | 'empty' | 'no'
}): JSX.Element {
  const { confirm, frame } = words()
  if (error instanceof HubUnreachable) {
    return <Notice title={frame.unreachable} hint={frame.unreachableHints[asksAgain]} />
  }
  if (!(error instanceof HubError)) return <Notice title={frame.broken} hint={error.message} />
  if (error.code === 'confirmation_needed') {
    return <Notice title={confirm.notDone} hint={confirm.notDoneHint} />
  }
  const isForbidden = error.status === 403 && error.code !== 'confirmation_refused'
  return (
    <Notice
      title={isForbidden ? frame.forbidden : error.message}
      hint={isForbidden ? error.message : ''}
    >
      <p class="faint">
        <code>{error.code}</code>
        {error.requestId !== undefined && (
          <>
            {' · '}
            {frame.request} <code>{error.requestId}</code>
            <CopyButton text={error.requestId} />
          </>
        )}
      </p>
    </Notice>
  )
}

export function Notice({
  title,
  hint = '',
  children,
}: {
  readonly title: string
  readonly hint?: string
  readonly children?: ComponentChildren
}): JSX.Element {
  return (
    <div class="notice" role="status">
      <Icon name="info" />
      <div>
        <b>{title}</b>
        {hint !== '' && <p>{hint}</p>}
        {children}
      </div>
    </div>
  )
}
