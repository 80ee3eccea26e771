// What entries of the log say, in the language that was chosen: a table of its own, loaded with the first screen that shows entries.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { EntryLanguage } from '../../explain/entry-language.ts'
import { type Language, language } from '../frame/preferences.ts'

const loaded = signal<EntryLanguage | undefined>(undefined)

/** Undefined until it is loaded, for the moment that this takes. */
export function useEntryLanguage(): EntryLanguage | undefined {
  const { value } = language
  useEffect(() => {
    void load(value)
  }, [value])
  return loaded.value
}

async function load(chosen: Language): Promise<void> {
  loaded.value =
    chosen === 'pt-BR'
      ? (await import('../../explain/portuguese.ts')).PORTUGUESE
      : (await import('../../explain/english.ts')).ENGLISH
}
