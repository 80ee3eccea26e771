// Where we are: the URL holds screen, filters and open panels, so that back, reload and sharing work.

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { goOrAsk, hasUnsent } from './unsent.ts'

export const BASE = '/console'

export interface Place {
  /** Below the base, with its leading slash. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

const place = signal(readPlace())
/** How many places of the browser's history lie before this one, as each of them has it. */
let depth = readDepth(history.state) ?? 0

export const here: ReadonlySignal<Place> = computed(() => place.value)

function readPlace(): Place {
  const path = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : ''
  return {
    path: path === '' ? '/' : path,
    query: Object.fromEntries(new URLSearchParams(location.search)),
  }
}

interface PlaceState {
  readonly depth: number
}

function readDepth(state: unknown): number | undefined {
  return (state as Partial<PlaceState> | null)?.depth
}

/** An undefined filter is left out. */
export function hrefOf(
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, value)
  }
  return `${BASE}${path}${parameters.size === 0 ? '' : `?${parameters.toString()}`}`
}

export function goTo(href: string, options: { readonly isReplacing?: boolean } = {}): void {
  if (options.isReplacing !== true) depth += 1
  const state: PlaceState = { depth }
  if (options.isReplacing === true) history.replaceState(state, '', href)
  else history.pushState(state, '', href)
  place.value = readPlace()
}

/** Where somebody wants to go: asked first, where the screen has what would be lost. */
export function follow(href: string): void {
  const { pathname } = new URL(href, location.href)
  if (pathname === location.pathname) goTo(href)
  else goOrAsk(() => goTo(href))
}

/** Changes filters of this screen. What is typed letter by letter replaces the place in the history. */
export function setQuery(
  changes: Readonly<Record<string, string | undefined>>,
  options: { readonly isReplacing?: boolean } = {},
): void {
  goTo(hrefOf(here.value.path, { ...here.value.query, ...changes }), options)
}

/** A click on a link of the console changes the place; with a modifier key, or to another place, it is the browser's. */
export function followLinks(): void {
  history.replaceState({ depth } satisfies PlaceState, '')
  let isDecided = false
  addEventListener('popstate', ({ state }) => {
    // Without a depth it is this document with another fragment, which somebody typed.
    const by = (readDepth(state) ?? depth) - depth
    if (by !== 0 && !isDecided && hasUnsent() && readPlace().path !== here.peek().path) {
      // The browser is there already, and the screen stays until somebody says so.
      history.go(-by)
      return goOrAsk(() => {
        isDecided = true
        history.go(by)
      })
    }
    isDecided = false
    depth += by
    place.value = readPlace()
  })
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.origin !== location.origin) return
    if (!link.pathname.startsWith(`${BASE}/`) || link.hasAttribute('download')) return
    event.preventDefault()
    if (link.href !== location.href) follow(link.href)
  })
}
