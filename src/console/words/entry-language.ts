// What entries of the log say, in the language that was chosen: a table of its own, loaded with the first screen that shows entries.

import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { EntryLanguage } from '../../explain/entry-language.ts'
import { type Language, language } from '../frame/preferences.ts'
import { describeMoment } from '../parts/time.tsx'

const loaded = signal<EntryLanguage | undefined>(undefined)

const inZone = computed(() => loaded.value && { ...loaded.value, momentOf: describeMoment })

/** Undefined until it is loaded, for the moment that this takes. */
export function useEntryLanguage(): EntryLanguage | undefined {
  useLoaded()
  return inZone.value
}

/** For paper, whose reader chose no zone: times are of UTC. */
export function usePrintedEntryLanguage(): EntryLanguage | undefined {
  useLoaded()
  return loaded.value
}

function useLoaded(): void {
  const { value } = language
  useEffect(() => {
    void load(value)
  }, [value])
}

async function load(chosen: Language): Promise<void> {
  loaded.value =
    chosen === 'pt-BR'
      ? (await import('../../explain/portuguese.ts')).PORTUGUESE
      : (await import('../../explain/english.ts')).ENGLISH
}
