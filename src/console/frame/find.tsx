// ⌘K: sections, and whatever the hub knows by this name, id, serial or number.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../api/client.ts'
import type { AdminReplies } from '../api/operations.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { words } from '../words/words.ts'
import { isFindOpen } from './find-state.ts'
import { sectionsOf } from './navigation.ts'
import { follow, hrefOf } from './router.ts'

type Hit = AdminReplies['search']['hits'][number]

interface Found {
  readonly key: string
  readonly icon: IconName
  readonly title: string
  readonly detail: string
  readonly href: string
}

const TYPING_MS = 120
const NO_HITS = { q: '', hits: [] } as const

export function Find(): JSX.Element | null {
  return isFindOpen.value ? <FindDialog /> : null
}

function FindDialog(): JSX.Element {
  const { frame } = words()
  const dialog = useRef<HTMLDialogElement>(null)
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const hits = useHits(typed)
  useEffect(() => dialog.current?.showModal(), [])
  const found = [...findSections(typed), ...hits.map(describeHit)]
  const chosen = Math.min(at, found.length - 1)
  const close = (): void => {
    isFindOpen.value = false
  }
  const open = ({ href }: Found): void => {
    close()
    follow(href)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0 && found.length > 0) {
      event.preventDefault()
      setAt((chosen + by + found.length) % found.length)
    }
    const wanted = found[chosen]
    if (event.key === 'Enter' && wanted !== undefined) {
      event.preventDefault()
      open(wanted)
    }
  }
  return (
    <dialog ref={dialog} class="card find-dialog" aria-label={frame.findShort} onClose={close}>
      <label class="field">
        <Icon name="search" small />
        <span class="visually-hidden">{frame.findHint}</span>
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant={found.length === 0 ? undefined : `found-${chosen}`}
          autocomplete="off"
          spellcheck={false}
          autofocus
          placeholder={frame.findHint}
          value={typed}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <div id="found" role="listbox" aria-label={frame.findShort}>
        {found.map((one, index) => (
          <a
            key={one.key}
            id={`found-${index}`}
            role="option"
            aria-selected={index === chosen}
            tabIndex={-1}
            href={one.href}
            onClick={close}
          >
            <Icon name={one.icon} />
            <span class="grow">{one.title}</span>
            <span class="faint">{one.detail}</span>
          </a>
        ))}
      </div>
      {found.length === 0 && <p class="body muted">{frame.noMatch}</p>}
      <p class="foot">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> {frame.keyMove} <kbd>↵</kbd> {frame.keyOpen} <kbd>Esc</kbd>{' '}
          {frame.keyClose}
        </span>
        <span>
          <kbd>J</kbd> <kbd>K</kbd> {frame.keyRows} <kbd>/</kbd> {frame.keyFind}
        </span>
      </p>
    </dialog>
  )
}

/** Of what is typed now: what was found for earlier letters is none of it. */
function useHits(typed: string): readonly Hit[] {
  const q = typed.trim()
  const [found, setFound] = useState<{ readonly q: string; readonly hits: readonly Hit[] }>(NO_HITS)
  useEffect(() => {
    if (q === '') return undefined
    const leaving = new AbortController()
    const timer = setTimeout(() => {
      ask('search', { q }, { signal: leaving.signal }).then(
        ({ hits }) => setFound({ q, hits }),
        // The list of sections still leads somewhere.
        () => setFound(NO_HITS),
      )
    }, TYPING_MS)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [q])
  return q !== '' && found.q === q ? found.hits : NO_HITS.hits
}

function findSections(typed: string): Found[] {
  const { frame } = words()
  const wanted = typed.trim().toLowerCase()
  const all = (['fleet', 'evidence', 'hub'] as const).flatMap((group) => sectionsOf(group))
  return all
    .filter(({ label }) => frame[label].toLowerCase().includes(wanted))
    .map(({ path, icon, label }) => ({
      key: path,
      icon,
      title: frame[label],
      detail: '',
      href: hrefOf(path),
    }))
}

const PAGES: Readonly<
  Record<Hit['kind'], { readonly icon: IconName; readonly path: (hit: Hit) => string }>
> = {
  agente: { icon: 'server', path: ({ id }) => hrefOf(`/hosts/${id}`) },
  carga: { icon: 'package', path: ({ id }) => hrefOf(`/cargo/${id}`) },
  entrega: { icon: 'send', path: ({ id }) => hrefOf('/deliveries', { open: id }) },
  certificado: { icon: 'shield-check', path: ({ id }) => hrefOf('/certificates', { id }) },
  evento: { icon: 'scroll', path: ({ id }) => hrefOf(`/audit/${id}`) },
  token: { icon: 'ticket', path: () => hrefOf('/enrolment') },
  join_rule: { icon: 'ticket', path: ({ id }) => hrefOf('/enrolment', { rule: id }) },
  politica: { icon: 'scale', path: ({ id }) => hrefOf(`/policies/${encodeURIComponent(id)}`) },
  webhook: { icon: 'webhook', path: ({ id }) => hrefOf(`/webhooks/${id}`) },
  admin_token: { icon: 'key', path: () => hrefOf('/access') },
}

function describeHit(hit: Hit): Found {
  const { icon, path } = PAGES[hit.kind]
  return {
    key: `${hit.kind} ${hit.id} ${hit.matched}`,
    icon,
    title: hit.title,
    detail: `${hit.kind} · ${hit.matched}`,
    href: path(hit),
  }
}
