// Somebody else made a version while this one was sealed: the files by their hashes, since nobody here can read them.

import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { ConflictDialog } from '../../parts/conflict-dialog.tsx'
import { words } from '../../words/words.ts'
import { type CargoConflict, readConflict } from '../cargo/read-conflict.ts'

type Cargo = AdminReplies['showCargo']

export function SealConflict({
  seen,
  onOverwrite,
  onClose,
}: {
  readonly seen: Cargo
  readonly onOverwrite: (present: Cargo) => void
  readonly onClose: () => void
}): JSX.Element | null {
  const { cargo, seal } = words()
  const [conflict, setConflict] = useState<CargoConflict | undefined>(undefined)
  useEffect(() => {
    readConflict(seen.id).then(setConflict, onClose)
  }, [seen.id])
  if (conflict === undefined) return null
  const { present, by } = conflict
  return (
    <ConflictDialog
      title={cargo.conflict(seen.nome)}
      by={by}
      fields={[
        {
          label: cargo.version,
          seen: String(seen.versao),
          present: String(present.versao),
          wanted: String(present.versao + 1),
        },
        {
          label: cargo.sealedFile,
          seen: seen.conteudo?.sha256 ?? cargo.none,
          present: present.conteudo?.sha256 ?? cargo.none,
          wanted: seal.thisFile,
        },
      ]}
      onOverwrite={() => onOverwrite(present)}
      onClose={onClose}
    />
  )
}
