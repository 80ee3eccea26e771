// The frame around every screen: sections at the side, title and switches at the top, a bar of tabs where there is little room.

import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { hubNowMs, now } from '../api/clock.ts'
import { screenAtMs } from '../api/remembered.ts'
import { session } from '../api/session.ts'
import { signOut } from '../api/sign-in.ts'
import { streamState } from '../api/stream.ts'
import { Failure } from '../parts/answer.tsx'
import { describeDuration } from '../parts/durations.ts'
import { Command } from '../parts/command.tsx'
import { Icon } from '../parts/icon.tsx'
import { LiveRegion } from '../parts/live-region.tsx'
import { describeTime, nameOfZone } from '../parts/time.tsx'
import { words } from '../words/words.ts'
import { Counts } from './counts.tsx'
import { Find } from './find.tsx'
import { openFind } from './find-state.ts'
import { isIn, sectionsOf } from './navigation.ts'
import { language, letterKeys, theme, zone } from './preferences.ts'
import { here, hrefOf } from './router.ts'
import { head } from './screen.tsx'
import { goOrAsk } from './unsent.ts'

export function AppFrame({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const { frame } = words()
  return (
    <>
      <a class="skip" href="#main">
        {frame.skip}
      </a>
      <div class="app">
        <Side />
        <div class="beside">
          <Top />
          <main id="main" tabIndex={-1}>
            {children}
          </main>
        </div>
        <TabBar />
      </div>
      <LiveRegion />
      <Find />
    </>
  )
}

const GROUPS = ['fleet', 'evidence', 'hub'] as const

function Side(): JSX.Element {
  const { frame } = words()
  return (
    <aside class="side" aria-label={frame.sections}>
      <div class="brand">
        <Mark />
        <div>
          <b>Cartorio</b>
          <span>{location.hostname}</span>
        </div>
      </div>
      <button type="button" class="find" onClick={openFind}>
        <Icon name="search" small />
        <span>{frame.find}</span>
        <kbd>{isApple() ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav aria-label={frame.main} class="sections">
        {GROUPS.filter((group) => sectionsOf(group).length > 0).map((group) => (
          <div class="nav" key={group}>
            <h2>{frame[group]}</h2>
            {sectionsOf(group).map(({ path, icon, label }) => (
              <a
                key={path}
                href={hrefOf(path)}
                aria-current={isIn(path, here.value.path) ? 'page' : undefined}
              >
                <Icon name={icon} />
                {frame[label]}
                <Counts section={label} />
              </a>
            ))}
          </div>
        ))}
      </nav>
      <div class="end">
        <Who />
      </div>
    </aside>
  )
}

function Mark(): JSX.Element {
  return (
    <svg width="26" height="26" viewBox="0 0 26 26" fill="none" aria-hidden="true">
      <circle
        cx="13"
        cy="13"
        r="11.5"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-dasharray="2.4 1.62"
      />
      <circle cx="13" cy="13" r="7.6" fill="currentColor" opacity=".16" />
      <path
        d="M9.4 13.3l2.5 2.5 4.9-5.3"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}

/** Name, role and end of the session; its menu holds what is chosen for this browser. */
function Who(): JSX.Element | null {
  const { frame } = words()
  const [fault, setFault] = useState<Error | undefined>(undefined)
  const { value } = session
  if (value.state !== 'in') return null
  const leave = (): void => {
    setFault(undefined)
    goOrAsk(() => {
      signOut().catch((error: unknown) => setFault(error as Error))
    })
  }
  return (
    <details class="menu">
      <summary class="who">
        <span class="avatar" aria-hidden="true">
          {value.name.slice(0, 1).toUpperCase()}
        </span>
        <span class="grow">
          <b>{value.name}</b>
          <span>
            {value.role} · {frame.until(describeTime(value.endsAt))}
          </span>
          {value.only !== null && <span>{frame.only(value.only)}</span>}
        </span>
        <Icon name="chevrons" small />
      </summary>
      <div class="menu-body">
        <label>
          {frame.language}
          <select
            value={language.value}
            onChange={({ currentTarget }) => {
              language.value = currentTarget.value === 'pt-BR' ? 'pt-BR' : 'en'
            }}
          >
            <option value="en">English</option>
            <option value="pt-BR">Português (Brasil)</option>
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={letterKeys.value === 'on'}
            onChange={({ currentTarget }) => {
              letterKeys.value = currentTarget.checked ? 'on' : 'off'
            }}
          />
          {frame.letterKeys}
        </label>
        <button type="button" class="button" onClick={leave}>
          <Icon name="log-out" small />
          {frame.signOut}
        </button>
        {fault !== undefined && (
          <div role="alert">
            <b>{frame.stillIn}</b>
            <Failure error={fault} />
          </div>
        )}
      </div>
    </details>
  )
}

function Top(): JSX.Element {
  const { frame } = words()
  const { title, wire, above } = head.value
  return (
    <header class="top">
      <div class="crumb">
        {above !== undefined && (
          <>
            <a class="up" href={above[1]}>
              {above[0]}
            </a>
            <span class="faint" aria-hidden="true">
              /
            </span>
          </>
        )}
        <h1 title={title}>{title}</h1>
        {wire !== undefined && <span class="wire">{wire}</span>}
      </div>
      <span class="grow" />
      <Live />
      <ZoneSwitch />
      <Commands />
      <button
        type="button"
        class="button square narrow-inline"
        aria-label={frame.findShort}
        onClick={openFind}
      >
        <Icon name="search" />
      </button>
      <button
        type="button"
        class="button square"
        aria-label={theme.value === 'dark' ? frame.toLight : frame.toDark}
        onClick={() => (theme.value = theme.value === 'dark' ? 'light' : 'dark')}
      >
        <Icon name="theme" />
      </button>
    </header>
  )
}

/** Where the browser is in UTC, there is nothing to choose. */
function ZoneSwitch(): JSX.Element | null {
  const { frame } = words()
  const name = nameOfZone()
  if (name === frame.utc) return null
  return (
    <span class="segments wide" role="group" aria-label={frame.zone}>
      <button
        type="button"
        aria-pressed={zone.value === 'local'}
        onClick={() => (zone.value = 'local')}
      >
        {name}
      </button>
      <button
        type="button"
        aria-pressed={zone.value === 'utc'}
        onClick={() => (zone.value = 'utc')}
      >
        {frame.utc}
      </button>
    </span>
  )
}

/** Without a stream it says how old the screen is. */
function Live(): JSX.Element {
  const { frame, times } = words()
  if (streamState.value === 'live') {
    return (
      <span class="live">
        <i />
        {frame.live}
      </span>
    )
  }
  const atMs = screenAtMs.value
  // Read, so that the age grows.
  const age = atMs === undefined ? undefined : Math.max(0, Math.max(now.value, hubNowMs()) - atMs)
  return (
    <span class="live is-waiting">
      <i />
      {age === undefined ? '…' : frame.old(describeDuration(age, times))}
    </span>
  )
}

function Commands(): JSX.Element | null {
  const { frame } = words()
  const dialog = useRef<HTMLDialogElement>(null)
  const { commands = [] } = head.value
  if (commands.length === 0) return null
  return (
    <>
      <button
        type="button"
        class="button square wide"
        aria-label={frame.commands}
        onClick={() => dialog.current?.showModal()}
      >
        <Icon name="terminal" />
      </button>
      <dialog ref={dialog} class="card" aria-label={frame.commands} closedby="any">
        <header>
          <h2>{frame.commands}</h2>
        </header>
        <div class="body commands">
          {commands.map((command) => (
            <Command key={command} text={command} />
          ))}
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {frame.close}
          </button>
        </div>
      </dialog>
    </>
  )
}

const TABS: readonly string[] = ['/', '/hosts', '/certificates', '/deliveries', '/audit']

function TabBar(): JSX.Element {
  const { frame } = words()
  return (
    <nav class="tabbar" aria-label={frame.main}>
      {[...sectionsOf('fleet'), ...sectionsOf('evidence')]
        .filter(({ path }) => TABS.includes(path))
        .map(({ path, icon, label }) => (
          <a
            key={path}
            href={hrefOf(path)}
            aria-current={isIn(path, here.value.path) ? 'page' : undefined}
          >
            <Icon name={icon} />
            {frame[label]}
          </a>
        ))}
      <button type="button" onClick={openFind}>
        <Icon name="menu" />
        {frame.more}
      </button>
    </nav>
  )
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}
