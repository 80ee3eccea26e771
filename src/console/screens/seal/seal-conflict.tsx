// Somebody else made a version while this one was sealed: the files by their hashes, since nobody here can read them.

import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { words } from '../../words/words.ts'
import { CargoConflictDialog } from '../cargo/cargo-conflict.tsx'
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
  return (
    <CargoConflictDialog
      seen={seen}
      conflict={conflict}
      isNext
      field={{
        label: cargo.sealedFile,
        read: ({ conteudo }) => conteudo?.sha256 ?? cargo.none,
        wanted: seal.thisFile,
      }}
      onOverwrite={() => onOverwrite(conflict.present)}
      onClose={onClose}
    />
  )
}
