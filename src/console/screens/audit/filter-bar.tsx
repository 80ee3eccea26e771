// What the list is about: whose entries, and a form for the rest, which the URL holds.

import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { zone } from '../../frame/preferences.ts'
import { goTo, here, hrefOf } from '../../frame/router.ts'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/words.ts'
import { type EntryFilters, HOSTS, PEOPLE, toQuery } from './entry-filters.ts'
import { describeFilterTime, fromLocalTime, toLocalTime } from './filter-times.ts'

export function FilterBar({
  filters,
  arrived,
  onReload,
}: {
  readonly filters: EntryFilters
  /** In words; undefined for none. */
  readonly arrived: string | undefined
  readonly onReload: () => void
}): JSX.Element {
  const { audit } = words()
  return (
    <div class="filters">
      <Groups filters={filters} />
      <AboutField key={`about ${filters.about ?? ''}`} filters={filters} />
      <Chips filters={filters} />
      <MoreFilters key={JSON.stringify([filters, zone.value])} filters={filters} />
      <span class="grow wide" />
      {arrived !== undefined && (
        <button type="button" class="button small primary" onClick={onReload} data-arrived>
          {arrived}
        </button>
      )}
      <a class="button quiet" href={hrefOf('/evidence', toQuery(filters))}>
        <Icon name="printer" small />
        {audit.evidence}
      </a>
    </div>
  )
}

/** An open entry stays open. */
function show(filters: EntryFilters): void {
  goTo(hrefOf(here.value.path, toQuery(filters)))
}

function Groups({ filters }: { readonly filters: EntryFilters }): JSX.Element {
  const { audit } = words()
  const { who, isRoutineShown } = filters
  const groups = [
    { label: audit.allButRoutine, who: undefined, isRoutineShown: false },
    { label: audit.people, who: PEOPLE, isRoutineShown: false },
    { label: audit.hubActs, who: 'hub', isRoutineShown: false },
    { label: audit.hosts, who: HOSTS, isRoutineShown: false },
    { label: audit.everything, who: undefined, isRoutineShown: true },
  ]
  return (
    <span class="segments" role="group" aria-label={audit.group}>
      {groups.map(({ label, ...group }) => (
        <button
          key={label}
          type="button"
          aria-pressed={group.who === who && group.isRoutineShown === isRoutineShown}
          onClick={() => show({ ...filters, ...group })}
        >
          {label}
        </button>
      ))}
    </span>
  )
}

function AboutField({ filters }: { readonly filters: EntryFilters }): JSX.Element {
  const { audit } = words()
  return (
    <form
      class="grow about-form"
      onSubmit={(event) => {
        event.preventDefault()
        show({ ...filters, about: fieldIn(event.currentTarget, 'about') })
      }}
    >
      <label class="field">
        <Icon name="search" small />
        <span class="visually-hidden">{audit.about}</span>
        <input
          type="search"
          name="about"
          placeholder={audit.aboutHint}
          defaultValue={filters.about ?? ''}
          autocomplete="off"
          spellcheck={false}
        />
      </label>
    </form>
  )
}

function Chips({ filters }: { readonly filters: EntryFilters }): JSX.Element {
  const { audit } = words()
  const { about, who, types, from, until } = filters
  const isGroup = who === PEOPLE || who === HOSTS || who === 'hub'
  const chips: readonly (readonly [text: string, without: Partial<EntryFilters>])[] = [
    ...(about === undefined ? [] : [[audit.chips.about(about), { about: undefined }] as const]),
    ...(who === undefined || isGroup ? [] : [[audit.chips.who(who), { who: undefined }] as const]),
    ...types.map(
      (type) =>
        [audit.chips.type(type), { types: types.filter((other) => other !== type) }] as const,
    ),
    ...(from === undefined
      ? []
      : [[audit.chips.from(describeFilterTime(from)), { from: undefined }] as const]),
    ...(until === undefined
      ? []
      : [[audit.chips.until(describeFilterTime(until)), { until: undefined }] as const]),
  ]
  return (
    <>
      {chips.map(([text, without]) => (
        <span key={text} class="filter-chip on">
          {text}
          <button
            type="button"
            aria-label={audit.removeFilter(text)}
            onClick={() => show({ ...filters, ...without })}
          >
            <Icon name="x" small />
          </button>
        </span>
      ))}
    </>
  )
}

function MoreFilters({ filters }: { readonly filters: EntryFilters }): JSX.Element {
  const { audit } = words()
  const menu = useRef<HTMLDetailsElement>(null)
  const isGroup = filters.who === PEOPLE || filters.who === HOSTS
  const apply = (form: HTMLFormElement): void => {
    const typed = (fieldIn(form, 'types') ?? '').split(/[\s,]+/).filter((type) => type !== '')
    if (menu.current !== null) menu.current.open = false
    show({
      ...filters,
      who: fieldIn(form, 'who') ?? (isGroup ? filters.who : undefined),
      types: typed,
      from: fromLocalTime(fieldIn(form, 'from')),
      until: fromLocalTime(fieldIn(form, 'until')),
    })
  }
  return (
    <details class="menu" ref={menu}>
      <summary class="filter-chip" data-filter-menu>
        <Icon name="plus" small />
        {audit.filter}
      </summary>
      <form
        class="menu-body form"
        onSubmit={(event) => {
          event.preventDefault()
          apply(event.currentTarget)
        }}
      >
        <label>
          {audit.who}
          <input
            name="who"
            placeholder={audit.whoHint}
            defaultValue={isGroup ? '' : (filters.who ?? '')}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
        <label>
          {audit.types}
          <input
            name="types"
            placeholder="politica_set, agent_revoked"
            defaultValue={filters.types.join(', ')}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
        <label>
          {audit.from}
          <input
            type="datetime-local"
            name="from"
            step="1"
            defaultValue={toLocalTime(filters.from)}
          />
        </label>
        <label>
          {audit.until}
          <input
            type="datetime-local"
            name="until"
            step="1"
            defaultValue={toLocalTime(filters.until)}
          />
        </label>
        <button type="submit" class="button primary">
          {audit.apply}
        </button>
      </form>
    </details>
  )
}

function fieldIn(form: HTMLFormElement, name: string): string | undefined {
  const value = new FormData(form).get(name)
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}
