// A link that signs in once: for an admin token that is there, or for one that is made for it and of which nobody has the text.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminRole } from '../../api/operations.ts'
import { hrefOf } from '../../frame/router.ts'
import { parseDurationText } from '../../parts/duration-text.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { words } from '../../words/words.ts'
import { RoleField } from './role-field.tsx'

export interface SignInLink {
  readonly name: string
  readonly link: string
}

export function CreateLinkDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (link: SignInLink) => void
  readonly onClose: () => void
}): JSX.Element {
  const { access: text, acts } = words()
  const act = useAct('createSignInLink')
  const [name, setName] = useState('')
  const [role, setRole] = useState<AdminRole | undefined>('operator')
  const [ttl, setTtl] = useState('8h')
  const seconds = parseDurationText(ttl)
  const isReady = name.trim() !== '' && (role === undefined || seconds !== undefined)
  const submit = async (): Promise<void> => {
    const request = {
      name: name.trim(),
      ...(role !== undefined && seconds !== undefined && { role, ttl_seconds: seconds }),
    }
    const about =
      role === undefined ? text.linkTokenTitle(request.name) : text.linkTitle(request.name, role)
    const made = await act.run(request, { about })
    if (made === undefined) return
    // The page of the hub is where a browser reaches the hub; that of svc is on this machine alone.
    const origin = location.protocol === 'https:' ? location.origin : (made.url ?? '')
    onCreated({ name: made.name, link: `${origin}${hrefOf('/sign-in')}#code=${made.code}` })
    onClose()
  }
  return (
    <FormDialog
      title={text.newLink}
      label={acts.create}
      isReady={isReady}
      isBusy={act.isBusy}
      error={act.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{text.linkText}</p>
      <TextField label={text.name} value={name} onValue={setName} hint={text.linkNameHint} />
      <RoleField
        label={text.linkAs}
        role={role}
        onRole={setRole}
        nameOf={text.linkRole}
        none={text.linkToken}
      />
      {role !== undefined && (
        <TextField
          label={text.linkLife}
          value={ttl}
          onValue={setTtl}
          hint={text.linkLifeHint}
          fault={seconds === undefined ? acts.noDuration : undefined}
        />
      )}
    </FormDialog>
  )
}
