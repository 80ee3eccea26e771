// Somebody else changed a carga while it was in a form: the version, and the one field that the form is about.

import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import {
  ConflictDialog,
  type ConflictDialogProperties,
  type ConflictField,
} from '../../parts/conflict-dialog.tsx'
import { words } from '../../words/words.ts'
import type { CargoConflict } from './read-conflict.ts'

type Cargo = AdminReplies['showCargo']

interface CargoConflictProperties extends Pick<
  ConflictDialogProperties,
  'onOverwrite' | 'onTake' | 'onClose'
> {
  /** As the form was filled from it. */
  readonly seen: Cargo
  readonly conflict: CargoConflict
  /** Whether what is wanted is a next version. */
  readonly isNext: boolean
  /** What the form is about: its name, how a carga has it, and what the form has. */
  readonly field: Pick<ConflictField, 'label' | 'wanted' | 'isClash'> & {
    readonly read: (cargo: Cargo) => string
  }
}

export function CargoConflictDialog({
  seen,
  conflict: { present, by },
  isNext,
  field: { read, ...field },
  ...does
}: CargoConflictProperties): JSX.Element {
  const { cargo: text } = words()
  return (
    <ConflictDialog
      title={text.conflict(seen.nome)}
      by={by}
      fields={[
        {
          label: text.version,
          seen: String(seen.versao),
          present: String(present.versao),
          wanted: String(isNext ? present.versao + 1 : present.versao),
        },
        { ...field, seen: read(seen), present: read(present) },
      ]}
      {...does}
    />
  )
}
