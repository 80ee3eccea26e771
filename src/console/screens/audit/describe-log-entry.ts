// An entry as the list, the panel and the print view name it.

import { describeEntry } from '../../../explain/describe-entry.ts'
import type { EntryDescription, EntryLanguage } from '../../../explain/entry-language.ts'
import { visibleText } from '../../../explain/visible-text.ts'
import type { Entry } from './entry-list.ts'

type Named = Pick<Entry, 'seq' | 'agente_id' | 'hostname' | 'tipo_evento' | 'payload'>

const WHO_CHARACTERS_MAX = 80

export function describeLogEntry(entry: Named, language: EntryLanguage): EntryDescription {
  const { seq, tipo_evento: type, payload, agente_id: agentId, hostname = null } = entry
  return describeEntry({ seq, type, payload, agentId, hostname }, language)
}

/** The actor of an act, or the host that sent it. */
export function whoOf({ agente_id: agentId, hostname, payload }: Named): string {
  if (agentId !== null) return visibleText(hostname ?? agentId, WHO_CHARACTERS_MAX)
  const { actor } = payload
  return typeof actor === 'string' && actor !== '' ? visibleText(actor, WHO_CHARACTERS_MAX) : 'hub'
}

/** For the colour beside its title, which is a word in the title too. */
export function toneOf({
  severity,
}: Pick<EntryDescription, 'severity'>): 'bad' | 'accent' | 'fresh' {
  if (severity === 'urgent') return 'bad'
  return severity === 'notable' ? 'accent' : 'fresh'
}
