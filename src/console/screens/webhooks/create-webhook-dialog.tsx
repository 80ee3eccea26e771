// A new webhook: where to, in which form, and which entries.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { nearMatches } from '../../../platform/near-matches.ts'
import { KNOWN_EVENT_TYPES } from '../../../protocol/admin/known-event-types.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { words } from '../../words/words.ts'
import { type Format, FORMATS, parseTipos, urlOf } from './describe-webhook.ts'
import { useUnknownType } from './use-unknown-type.ts'

export function CreateWebhookDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (webhook: AdminReplies['createWebhook']) => void
  readonly onClose: () => void
}): JSX.Element {
  const { webhooks: text, acts } = words()
  const act = useAct('createWebhook')
  const [format, setFormat] = useState<Format>('json')
  const [url, setUrl] = useState('')
  const [tipos, setTipos] = useState('')
  const { unknown, ...types } = useUnknownType()
  const [areLater, setLater] = useState(false)
  const [where, setWhere] = useState('')
  const [password, setPassword] = useState('')
  const [headers, setHeaders] = useState('')
  const headerLines = headers
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const submit = async (): Promise<void> => {
    if (!areLater && !(await types.areKnown(parseTipos(tipos)))) return
    const request = {
      url: urlOf(format, url),
      tipos: parseTipos(tipos),
      ...(where.trim() !== '' && { where: where.trim() }),
      ...(format === 'mail' && password !== '' && { password }),
      ...(format === 'otlp' && headerLines.length > 0 && { headers: headerLines }),
    }
    const webhook = await act.run(request, { about: text.makeTitle(request.url) })
    if (webhook === undefined) return
    onCreated(webhook)
    onClose()
  }
  return (
    <FormDialog
      title={text.newWebhook}
      label={acts.create}
      isReady={url.trim() !== ''}
      isBusy={act.isBusy || types.isBusy}
      error={types.error ?? act.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <label>
        {text.format}
        <select
          value={format}
          onChange={({ currentTarget }) =>
            setFormat(FORMATS.find((one) => one === currentTarget.value) ?? 'json')
          }
        >
          {FORMATS.map((one) => (
            <option key={one} value={one}>
              {text.formats[one]}
            </option>
          ))}
        </select>
      </label>
      <TextField label={text.url} value={url} onValue={setUrl} hint={text.urlHints[format]} />
      {format === 'mail' && (
        <TextField
          label={text.password}
          value={password}
          onValue={setPassword}
          isSecret
          isOptional
          hint={text.passwordHint}
        />
      )}
      {format === 'otlp' && (
        <TextField
          label={text.headers}
          value={headers}
          onValue={setHeaders}
          rows={2}
          isSecret
          isOptional
          hint={text.headersHint}
        />
      )}
      <TextField
        label={text.tipos}
        value={tipos}
        onValue={(value) => {
          setTipos(value)
          setLater(false)
          types.forget()
        }}
        rows={2}
        isOptional
        hint={text.tiposHint}
        fault={
          unknown && text.unknownTipo(unknown, nearMatches(unknown, KNOWN_EVENT_TYPES).join(', '))
        }
      />
      {unknown !== undefined && (
        <label class="check">
          <input
            type="checkbox"
            checked={areLater}
            onChange={({ currentTarget }) => setLater(currentTarget.checked)}
          />
          <span>{text.tiposLater}</span>
        </label>
      )}
      <TextField
        label={text.where}
        value={where}
        onValue={setWhere}
        isOptional
        hint={text.whereHint}
      />
    </FormDialog>
  )
}
