// What is about to happen, over whatever asked for it, until a passkey confirms it or somebody leaves it.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { type WaitingConfirmation, waitingConfirmation } from '../api/confirmation.ts'
import { HubError, HubUnreachable } from '../api/hub-error.ts'
import { confirmRequest, hasPasskeys } from '../api/passkeys.ts'
import { hrefOf } from '../frame/router.ts'
import { words } from '../words/words.ts'
import { Failure, Notice } from './answer.tsx'
import { Dialog } from './dialog.tsx'

export function ConfirmDialog(): JSX.Element | null {
  const { value } = waitingConfirmation
  return value === undefined ? null : <Confirm key={value.body} waiting={value} />
}

function Confirm({ waiting }: { readonly waiting: WaitingConfirmation }): JSX.Element {
  const { acts, confirm: text } = words()
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly fault?: Error }>({
    isBusy: false,
  })
  const leaving = useRef(new AbortController())
  const cancel = (): void => waiting.settle(undefined)
  useEffect(() => () => leaving.current.abort(), [])
  const confirm = async (): Promise<void> => {
    setState({ isBusy: true })
    try {
      waiting.settle(await confirmRequest(waiting, leaving.current.signal))
    } catch (error) {
      setState({ isBusy: false, fault: error as Error })
    }
  }
  return (
    <Dialog title={text.title} onClose={cancel}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void confirm()
        }}
      >
        <div class="body form">
          <p class="breaks">
            <b>{waiting.about}</b>
          </p>
          <p class="muted">{text.hint}</p>
        </div>
        {state.fault !== undefined && <Fault fault={state.fault} onLeave={cancel} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={cancel}>
            {acts.cancel}
          </button>
          <button
            type="submit"
            class="button primary"
            disabled={state.isBusy || !hasPasskeys()}
            autofocus
          >
            {state.isBusy ? text.waits : text.confirm}
          </button>
        </div>
        {!hasPasskeys() && <Notice title={text.oldBrowser} />}
      </form>
    </Dialog>
  )
}

function Fault({
  fault,
  onLeave,
}: {
  readonly fault: Error
  readonly onLeave: () => void
}): JSX.Element {
  const { confirm: text } = words()
  if (fault instanceof HubError && fault.code === 'passkey_missing') {
    return (
      <Notice title={text.missing} hint={text.missingHint}>
        <a class="link" href={hrefOf('/access')} onClick={onLeave}>
          {text.toAccess}
        </a>
      </Notice>
    )
  }
  if (fault instanceof HubError || fault instanceof HubUnreachable) return <Failure error={fault} />
  return <Notice title={text.unanswered} hint={text.unansweredHint} />
}
