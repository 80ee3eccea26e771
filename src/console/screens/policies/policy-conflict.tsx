// Somebody else set the politica meanwhile: who, what is there now, and what to do with what was typed.

import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import { Failure } from '../../parts/answer.tsx'
import { ConflictDialog } from '../../parts/conflict-dialog.tsx'
import { words } from '../../words/words.ts'
import {
  actorOf,
  fieldsOf,
  findLastChange,
  formOf,
  mergePolicy,
  type Politica,
  type PolicyForm,
  type Target,
} from './describe-policy.ts'
import { describeField } from './field-value.tsx'
import { POLICY_ENTRIES } from './policy-history.tsx'
import { askPolitica, type SeenPolitica } from './use-politica.ts'

interface Present {
  readonly seen: SeenPolitica
  readonly by: { readonly actor: string; readonly at: string } | undefined
}

export function PolicyConflict({
  target,
  seen,
  form,
  onOverwrite,
  onTake,
  onClose,
}: {
  readonly target: Target
  readonly seen: Politica
  readonly form: PolicyForm
  readonly onOverwrite: (present: SeenPolitica, wanted: PolicyForm) => void
  readonly onTake: (present: SeenPolitica) => void
  readonly onClose: () => void
}): JSX.Element | null {
  const { policies: text } = words()
  const [present, setPresent] = useState<Present | undefined>(undefined)
  const [error, setError] = useState<Error | undefined>(undefined)
  useEffect(() => {
    askPresent(target).then(setPresent, (cause: unknown) => setError(cause as Error))
  }, [])
  if (error !== undefined) return <Failure error={error} />
  if (present === undefined) return null
  const before = formOf(seen)
  const now = formOf(present.seen.politica)
  const { merged, clashes } = mergePolicy(target, seen, present.seen.politica, form)
  return (
    <ConflictDialog
      title={text.conflict}
      by={present.by}
      fields={fieldsOf(target).map((field) => ({
        label: text.fields[field],
        seen: describeField(field, before[field]),
        present: describeField(field, now[field]),
        wanted: describeField(field, merged[field]),
        isClash: clashes.includes(field),
      }))}
      onOverwrite={() => onOverwrite(present.seen, merged)}
      onTake={() => onTake(present.seen)}
      onClose={onClose}
    />
  )
}

async function askPresent(target: Target): Promise<Present> {
  const seen = await askPolitica(target)
  const { eventos } = await ask('listEntries', POLICY_ENTRIES)
  const entry = findLastChange(target, eventos)
  const by = entry && { actor: actorOf(entry), at: entry.timestamp }
  return { seen, by }
}
