// For whom: the fields of something new; and what all fields hold when the form is sent.

import type { JSX } from 'preact'
import { words } from '../../words/words.ts'

export function Whom(): JSX.Element {
  const { seal } = words()
  const fields = [
    ['nome', seal.name, seal.nameHint],
    ['agents', seal.agents, seal.agentsHint],
    ['role', seal.role, seal.roleHint],
    ['where', seal.where, seal.whereHint],
  ] as const
  return (
    <>
      {fields.map(([name, label, hint]) => (
        <label key={name}>
          {label}
          <span class="hint">{hint}</span>
          <input name={name} autocomplete="off" spellcheck={false} />
        </label>
      ))}
    </>
  )
}

interface Fields {
  readonly nome: string
  readonly agents: string
  readonly role: string
  readonly where: string
  readonly secret: HTMLTextAreaElement
  readonly file: File | undefined
  /** Of a page that the hub served. */
  readonly pinFile: File | undefined
}

export function readFields(form: HTMLFormElement): Fields {
  const inputOf = (name: string): HTMLInputElement | undefined => {
    const field = form.elements.namedItem(name)
    return field instanceof HTMLInputElement ? field : undefined
  }
  const textOf = (name: string): string => inputOf(name)?.value ?? ''
  return {
    nome: textOf('nome'),
    agents: textOf('agents'),
    role: textOf('role'),
    where: textOf('where'),
    secret: form.elements.namedItem('secret') as HTMLTextAreaElement,
    file: inputOf('file')?.files?.[0],
    pinFile: inputOf('pins')?.files?.[0],
  }
}
