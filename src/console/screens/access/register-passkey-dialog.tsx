// A passkey is given a name, made by the browser's authenticator, and kept by the hub.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { HubError, HubUnreachable } from '../../api/hub-error.ts'
import { makePasskey } from '../../api/passkeys.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { words } from '../../words/words.ts'

const LABEL_CHARACTERS_MAX = 64

export function RegisterPasskeyDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { access: text, acts, confirm } = words()
  const act = useAct('registerPasskey')
  const [label, setLabel] = useState('')
  const [isMaking, setMaking] = useState(false)
  const [fault, setFault] = useState<Error | undefined>(undefined)
  const isRefused = fault instanceof HubError || fault instanceof HubUnreachable
  const submit = async (): Promise<void> => {
    const request = await make()
    if (request === undefined) return
    const about = text.registerPasskeyTitle(request.label)
    const made = await act.run(request, { done: acts.done, about })
    if (made !== undefined) onClose()
  }
  const make = async (): Promise<Parameters<typeof act.run>[0] | undefined> => {
    setMaking(true)
    setFault(undefined)
    try {
      return { label: label.trim(), credential: await makePasskey() }
    } catch (error) {
      setFault(error as Error)
      return undefined
    } finally {
      setMaking(false)
    }
  }
  return (
    <FormDialog
      title={text.registerPasskey}
      label={text.registerPasskey}
      isReady={label.trim() !== '' && label.trim().length <= LABEL_CHARACTERS_MAX}
      isBusy={isMaking || act.isBusy}
      error={isRefused ? fault : act.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{text.registerPasskeyText}</p>
      <TextField
        label={text.passkeyLabel}
        value={label}
        onValue={setLabel}
        hint={text.passkeyLabelHint}
      />
      {fault !== undefined && !isRefused && (
        <p class="c-bad" role="alert">
          {confirm.unanswered}. {confirm.unansweredHint}
        </p>
      )}
    </FormDialog>
  )
}
