// Which screen a path shows; each is loaded when it is first shown.

import { useEffect, useState } from 'preact/hooks'
import type { ComponentType, JSX } from 'preact'
import { matchPath } from '../frame/match-path.ts'
import { here, hrefOf } from '../frame/router.ts'
import { Screen } from '../frame/screen.tsx'
import { Notice } from '../parts/answer.tsx'
import { words } from '../words/words.ts'

export type ScreenProperties = Readonly<Record<string, string>>

interface Route {
  readonly pattern: string
  readonly load: () => Promise<ComponentType<ScreenProperties>>
}

const ROUTES: readonly Route[] = [
  {
    pattern: '/',
    load: async () => (await import('./overview/overview-screen.tsx')).OverviewScreen,
  },
  {
    pattern: '/hosts/:id',
    load: async () => (await import('./host/host-screen.tsx')).HostScreen,
  },
  { pattern: '/hosts', load: async () => (await import('./hosts/hosts-screen.tsx')).HostsScreen },
  // Before what shows a load by its id.
  { pattern: '/cargo/seal', load: async () => (await import('./seal/seal-screen.tsx')).SealScreen },
]

const loaded = new Map<string, ComponentType<ScreenProperties>>()

export function CurrentScreen(): JSX.Element | null {
  const { path } = here.value
  const [, drawAgain] = useState(0)
  const route = ROUTES.find(({ pattern }) => matchPath(pattern, path) !== undefined)
  const pattern = route?.pattern ?? ''
  useEffect(() => {
    if (route === undefined || loaded.has(pattern)) return
    void route.load().then((screen) => {
      loaded.set(pattern, screen)
      drawAgain((count) => count + 1)
    })
  }, [pattern])
  // The place has changed, and who reads by ear is told where: the title is the first thing there.
  useEffect(() => {
    document.getElementById('main')?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [path])
  if (route === undefined) return <NotFound />
  const Shown = loaded.get(pattern)
  return Shown === undefined ? null : <Shown key={path} {...matchPath(pattern, path)} />
}

function NotFound(): JSX.Element {
  const { frame } = words()
  return (
    <Screen title={frame.notFound}>
      <Notice title={frame.notFound} hint={frame.notFoundHint}>
        <a class="link" href={hrefOf('/')}>
          {frame.toOverview}
        </a>
      </Notice>
    </Screen>
  )
}
