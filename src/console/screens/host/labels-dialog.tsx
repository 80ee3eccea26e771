// The labels of one host, as lines: what the host is in, and gets, goes by them.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { svc } from '../../commands/svc.ts'
import { Rehearsed, useRehearsal } from '../../parts/act-dialog.tsx'
import { Command } from '../../parts/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { FormFoot } from '../../parts/form-foot.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { words } from '../../words/words.ts'
import type { Host } from './explain-host.ts'
import { type LabelChange, listGiven, readLabels } from './read-labels.ts'

export function LabelsDialog({
  host,
  onClose,
}: {
  readonly host: Host
  readonly onClose: () => void
}): JSX.Element {
  const { host: text, acts } = words()
  const act = useAct('labelAgents')
  // As they were when the form was opened: what comes meanwhile changes no form, and is not taken back by it.
  const [given] = useState(listGiven(host.labels))
  const [typed, setTyped] = useState(given.join('\n'))
  const change = readLabels(given, typed)
  const request = toRequest(host.id, change)
  const settled = useSettled(request)
  const { rehearsal, error } = useRehearsal('labelAgents', settled)
  const isShown = rehearsal !== undefined && JSON.stringify(settled) === JSON.stringify(request)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    // What is not shown yet is not done.
    if (request === undefined || !isShown || act.isBusy) return
    if ((await act.run(request, { done: acts.done })) !== undefined) onClose()
  }
  return (
    <Dialog title={text.labelsTitle(host.hostname)} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div class="body form">
          <p>{text.labelsText}</p>
          <TextField
            label={text.labels}
            value={typed}
            onValue={setTyped}
            rows={5}
            isOptional
            hint={text.labelsHint}
            fault={change.ok ? undefined : text.noLabel(change.word)}
          />
          {isShown && <Rehearsed rehearsal={rehearsal} />}
          {request !== undefined && <Command text={svc.labelHost(host.hostname, request)} />}
        </div>
        <FormFoot
          errors={[request && error, act.error]}
          label={text.labelsButton}
          isReady={isShown}
          isBusy={act.isBusy}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

/** Undefined while nothing differs. */
function toRequest(
  agente: string,
  change: LabelChange,
):
  | { readonly agente: string; readonly set: Record<string, string>; readonly remove: string[] }
  | undefined {
  if (!change.ok) return undefined
  const { set, remove } = change
  if (Object.keys(set).length + remove.length === 0) return undefined
  return { agente, set: { ...set }, remove: [...remove] }
}
