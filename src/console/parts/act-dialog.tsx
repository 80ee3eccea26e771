// An act that is shown before it is done: what the hub would record, how many hosts it would tell; some want a name typed first.

import { useEffect, useState } from 'preact/hooks'
import type { ComponentChildren, JSX } from 'preact'
import { rehearse } from '../api/client.ts'
import type { ActName, AdminRehearsal, AdminReplies, AdminRequest } from '../api/operations.ts'
import { words } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import { FormFoot } from './form-foot.tsx'
import { formatCount } from './time.tsx'
import { useAct } from './use-act.ts'

export interface ActDialogProperties<Name extends ActName> {
  readonly title: string
  /** What a passkey confirms; the title without it. */
  readonly about?: string
  readonly name: Name
  readonly request: AdminRequest<Name>
  /** On the button. */
  readonly label: string
  readonly isDangerous?: boolean
  /** Has to be typed before the button works. */
  readonly typed?: string
  /** What the act ends or begins, in words; above what the hub says. */
  readonly children?: ComponentChildren
  readonly onClose: () => void
  readonly onDone?: (reply: AdminReplies[Name]) => void
}

export function ActDialog<Name extends ActName>({
  title,
  about = title,
  name,
  request,
  label,
  isDangerous = false,
  typed,
  children,
  onClose,
  onDone,
}: ActDialogProperties<Name>): JSX.Element {
  const { acts } = words()
  const act = useAct(name)
  const [written, setWritten] = useState('')
  const { rehearsal, error } = useRehearsal(name, request)
  const isReady = typed === undefined || written.trim() === typed
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (!isReady || act.isBusy) return
    const reply = await act.run(request, { done: acts.done, about })
    if (reply === undefined) return
    onDone?.(reply)
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div class="body form">
          {children}
          {rehearsal !== undefined && <Rehearsed rehearsal={rehearsal} />}
          {typed !== undefined && (
            <label>
              {acts.typeName(typed)}
              <input
                value={written}
                onInput={({ currentTarget }) => setWritten(currentTarget.value)}
                autocomplete="off"
                spellcheck={false}
                autofocus
              />
            </label>
          )}
        </div>
        <FormFoot
          errors={[error, act.error]}
          isReady={isReady && error === undefined}
          isBusy={act.isBusy}
          {...{ label, isDangerous, onClose }}
        />
      </form>
    </Dialog>
  )
}

/** What the hub would do, asked for each time that the request changes. */
export function useRehearsal<Name extends ActName>(
  name: Name,
  request: AdminRequest<Name> | undefined,
): { readonly rehearsal: AdminRehearsal | undefined; readonly error: Error | undefined } {
  const [state, setState] = useState<{
    readonly rehearsal: AdminRehearsal | undefined
    readonly error: Error | undefined
  }>({ rehearsal: undefined, error: undefined })
  const key = JSON.stringify(request)
  useEffect(() => {
    if (request === undefined) return setState({ rehearsal: undefined, error: undefined })
    const leaving = new AbortController()
    const options = { signal: leaving.signal }
    rehearse(name, request, options).then(
      (rehearsal) => setState({ rehearsal, error: undefined }),
      (error: unknown) => {
        if (!leaving.signal.aborted) setState({ rehearsal: undefined, error: error as Error })
      },
    )
    return () => leaving.abort()
  }, [name, key])
  return state
}

/** The entries that the log would get, by type, and how many hosts would be told. */
export function Rehearsed({ rehearsal }: { readonly rehearsal: AdminRehearsal }): JSX.Element {
  const { acts } = words()
  const counts = new Map<string, number>()
  for (const { tipo } of rehearsal.acts) counts.set(tipo, (counts.get(tipo) ?? 0) + 1)
  return (
    <div class="pre" aria-live="polite">
      {counts.size === 0 && <div>{acts.nothing}</div>}
      {[...counts].map(([tipo, count]) => (
        <div key={tipo}>
          {formatCount(count)} × <code>{tipo}</code>
        </div>
      ))}
      <div>{acts.hostsTold(rehearsal.agentes)}</div>
    </div>
  )
}
