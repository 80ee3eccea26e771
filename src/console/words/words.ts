// What the console says, in the language that was chosen. Each language is a table of its own, loaded when it is chosen; what is on the wire
// (`agente`, `entrega`, codes) is never translated.

import { signal } from '@preact/signals'
import type { Language } from '../frame/preferences.ts'
import type { en } from './en.ts'

export type Words = typeof en

const chosen = signal<Words | undefined>(undefined)

/** Only after the first table was loaded, which main.tsx waits for. */
export function words(): Words {
  if (chosen.value === undefined) throw new Error('no words are loaded yet')
  return chosen.value
}

export async function loadWords(language: Language): Promise<void> {
  chosen.value =
    language === 'pt-BR' ? (await import('./pt-br.ts')).ptBr : (await import('./en.ts')).en
}
