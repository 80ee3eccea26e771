// What somebody chose for this browser: theme, zone of times, language, keys. It holds nothing of the fleet.

import { effect, signal, type Signal } from '@preact/signals'

export type Theme = 'dark' | 'light'
export type Zone = 'local' | 'utc'
export type Language = 'en' | 'pt-BR'

export const theme: Signal<Theme> = keep('theme', ['dark', 'light'], preferredTheme())
export const zone: Signal<Zone> = keep('zone', ['local', 'utc'], 'local')
export const language: Signal<Language> = keep('language', ['en', 'pt-BR'], preferredLanguage())
/** Single letters do something; who dictates to the browser turns them off. */
export const letterKeys: Signal<'on' | 'off'> = keep('letter-keys', ['on', 'off'], 'on')

function keep<Value extends string>(
  name: string,
  values: readonly Value[],
  otherwise: Value,
): Signal<Value> {
  const key = `cartorio.${name}`
  const stored = localStorage.getItem(key)
  const chosen = signal(values.find((value) => value === stored) ?? otherwise)
  let isFirst = true
  effect(() => {
    const { value } = chosen
    // What was only preferred is not chosen.
    if (!isFirst) localStorage.setItem(key, value)
    isFirst = false
  })
  return chosen
}

function preferredTheme(): Theme {
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'
}

function preferredLanguage(): Language {
  return navigator.language.toLowerCase().startsWith('pt') ? 'pt-BR' : 'en'
}

export function showPreferences(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value
  })
  effect(() => {
    document.documentElement.lang = language.value
  })
}
