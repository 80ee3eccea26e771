// A text file for one host. One that the hub would refuse for its size is not sent.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { goTo, hrefOf } from '../../frame/router.ts'
import { Rehearsed, useRehearsal } from '../../parts/act-dialog.tsx'
import { formatCount } from '../../parts/time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { FormFoot } from '../../parts/form-foot.tsx'
import { words } from '../../words/words.ts'
import { PUSH_BYTES_MAX, type ReadFile, readPush } from './read-push.ts'

const MODE = '0644'

export function PushForm({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { cargo, acts } = words()
  const act = useAct('pushToAgent')
  const [agente, setAgente] = useState('')
  const [nome, setNome] = useState('')
  const [modo, setModo] = useState(MODE)
  const [file, setFile] = useState<ReadFile | undefined>(undefined)
  const request =
    file?.ok === true && agente.trim() !== '' && nome.trim() !== ''
      ? { agente: agente.trim(), nome: nome.trim(), conteudo: file.text, modo: modo.trim() }
      : undefined
  const settled = useSettled(request)
  const { rehearsal, error } = useRehearsal('pushToAgent', settled)
  const isShown = rehearsal !== undefined && JSON.stringify(settled) === JSON.stringify(request)
  const choose = async (chosen: File | undefined): Promise<void> => {
    setFile(chosen === undefined ? undefined : await readPush(chosen))
    if (chosen !== undefined && nome === '') setNome(chosen.name)
  }
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (request === undefined || !isShown || act.isBusy) return
    const reply = await act.run(request, { done: acts.done })
    if (reply === undefined) return
    goTo(hrefOf('/deliveries', { open: reply.entrega_id }), { isReplacing: true })
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <div class="body form">
        <label>
          {cargo.host}
          <input
            value={agente}
            onInput={({ currentTarget }) => setAgente(currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
        <label>
          {cargo.file}
          <input
            type="file"
            onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
          />
          <span class="hint">{cargo.fileHint(formatCount(PUSH_BYTES_MAX))}</span>
        </label>
        {file?.ok === false && (
          <p class="c-bad" role="alert">
            {file.why === 'large'
              ? cargo.fileLarge(formatCount(file.bytes), formatCount(PUSH_BYTES_MAX))
              : cargo.fileNotText}
          </p>
        )}
        <label>
          {cargo.name}
          <input
            value={nome}
            onInput={({ currentTarget }) => setNome(currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
        <label>
          {cargo.mode}
          <input value={modo} onInput={({ currentTarget }) => setModo(currentTarget.value)} />
        </label>
        {isShown && <Rehearsed rehearsal={rehearsal} />}
      </div>
      <FormFoot
        errors={[request && error, act.error]}
        label={cargo.makeButton}
        isReady={isShown}
        isBusy={act.isBusy}
        onClose={onClose}
      />
    </form>
  )
}
