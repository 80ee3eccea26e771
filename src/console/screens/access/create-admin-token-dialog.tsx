// An admin token: for whom, what it may, for how long, and for which hosts.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies, AdminRole } from '../../api/operations.ts'
import { parseDurationText } from '../../parts/duration-text.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { words } from '../../words/words.ts'
import { RoleField } from './role-field.tsx'

export function CreateAdminTokenDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (token: AdminReplies['createAccessToken']) => void
  readonly onClose: () => void
}): JSX.Element {
  const { access: text, acts } = words()
  const act = useAct('createAccessToken')
  const [name, setName] = useState('')
  const [role, setRole] = useState<AdminRole>('viewer')
  const [ttl, setTtl] = useState('90d')
  const [only, setOnly] = useState('')
  const seconds = parseDurationText(ttl)
  const submit = async (): Promise<void> => {
    if (seconds === undefined) return
    const request = {
      name: name.trim(),
      role,
      ttl_seconds: seconds,
      ...(only.trim() !== '' && { only: only.trim() }),
    }
    const token = await act.run(request, { about: text.makeTitle(request.name, role) })
    if (token === undefined) return
    onCreated(token)
    onClose()
  }
  return (
    <FormDialog
      title={text.newToken}
      label={acts.create}
      isReady={name.trim() !== '' && seconds !== undefined}
      isBusy={act.isBusy}
      error={act.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField label={text.name} value={name} onValue={setName} hint={text.nameHint} />
      <RoleField
        label={text.role}
        role={role}
        onRole={(chosen = 'viewer') => setRole(chosen)}
        hint={text.roles[role]}
      />
      <TextField
        label={text.life}
        value={ttl}
        onValue={setTtl}
        hint={text.lifeHint}
        fault={seconds === undefined ? acts.noDuration : undefined}
      />
      {role !== 'admin' && (
        <TextField
          label={text.only}
          value={only}
          onValue={setOnly}
          isOptional
          hint={text.onlyHint}
        />
      )}
    </FormDialog>
  )
}
