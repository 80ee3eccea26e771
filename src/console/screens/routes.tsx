// Which screen a path shows; each is loaded when it is first shown.

import { useEffect, useState } from 'preact/hooks'
import type { ComponentType, JSX } from 'preact'
import { matchPath } from '../frame/match-path.ts'
import { homePath, isBounded } from '../frame/navigation.ts'
import { goTo, here, hrefOf } from '../frame/router.ts'
import { Screen } from '../frame/screen.tsx'
import { Notice } from '../parts/answer.tsx'
import { words } from '../words/words.ts'

export type ScreenProperties = Readonly<Record<string, string>>

interface Route {
  readonly pattern: string
  /** Paths of one screen, such as a list with and without its panel: between them the screen, its place and the focus stay. */
  readonly screen?: string
  /** What it asks for, a token of some hosts may ask for. */
  readonly isForSomeHosts?: true
  readonly load: () => Promise<ComponentType<ScreenProperties>>
}

const loadAudit = async (): Promise<ComponentType<ScreenProperties>> =>
  (await import('./audit/audit-screen.tsx')).AuditScreen

const ROUTES: readonly Route[] = [
  { pattern: '/audit', screen: '/audit', load: loadAudit },
  { pattern: '/audit/:seq', screen: '/audit', load: loadAudit },
  {
    pattern: '/evidence',
    load: async () => (await import('./evidence/evidence-screen.tsx')).EvidenceScreen,
  },
  {
    pattern: '/',
    load: async () => (await import('./overview/overview-screen.tsx')).OverviewScreen,
  },
  {
    pattern: '/hosts/:id',
    isForSomeHosts: true,
    load: async () => (await import('./host/host-screen.tsx')).HostScreen,
  },
  {
    pattern: '/policies',
    load: async () => (await import('./policies/policies-screen.tsx')).PoliciesScreen,
  },
  {
    pattern: '/policies/:role',
    load: async () => (await import('./policies/policy-screen.tsx')).RolePolicyScreen,
  },
  {
    pattern: '/policies/where/:nome',
    load: async () => (await import('./policies/policy-screen.tsx')).SelectorPolicyScreen,
  },
  {
    pattern: '/enrolment',
    load: async () => (await import('./enrolment/enrolment-screen.tsx')).EnrolmentScreen,
  },
  {
    pattern: '/enrolment/rules/:id',
    load: async () => (await import('./enrolment/join-rule-screen.tsx')).JoinRuleScreen,
  },
  {
    pattern: '/access',
    load: async () => (await import('./access/access-screen.tsx')).AccessScreen,
  },
  {
    pattern: '/hub',
    load: async () => (await import('./hub/hub-screen.tsx')).HubScreen,
  },
  {
    pattern: '/roots',
    load: async () => (await import('./roots/roots-screen.tsx')).RootsScreen,
  },
  {
    pattern: '/revocations',
    load: async () => (await import('./revocations/revocations-screen.tsx')).RevocationsScreen,
  },
  {
    pattern: '/webhooks',
    load: async () => (await import('./webhooks/webhooks-screen.tsx')).WebhooksScreen,
  },
  {
    pattern: '/webhooks/:id',
    load: async () => (await import('./webhooks/webhook-screen.tsx')).WebhookScreen,
  },
  {
    pattern: '/certificates',
    isForSomeHosts: true,
    load: async () => (await import('./certificates/certificates-screen.tsx')).CertificatesScreen,
  },
  {
    pattern: '/hosts',
    isForSomeHosts: true,
    load: async () => (await import('./hosts/hosts-screen.tsx')).HostsScreen,
  },
  // Before what shows a cargo by its id.
  { pattern: '/cargo/seal', load: async () => (await import('./seal/seal-screen.tsx')).SealScreen },
  {
    pattern: '/cargo/:id',
    load: async () => (await import('./cargo/cargo-screen.tsx')).CargoScreen,
  },
  {
    pattern: '/cargo',
    load: async () => (await import('./cargo/cargoes-screen.tsx')).CargoesScreen,
  },
  {
    pattern: '/rollouts/:id',
    load: async () => (await import('./rollouts/rollout-screen.tsx')).RolloutScreen,
  },
  {
    pattern: '/rollouts',
    load: async () => (await import('./rollouts/rollouts-screen.tsx')).RolloutsScreen,
  },
  {
    pattern: '/deliveries',
    isForSomeHosts: true,
    load: async () => (await import('./deliveries/deliveries-screen.tsx')).DeliveriesScreen,
  },
]

const AGAIN_MS = 2000

const loaded = new Map<string, ComponentType<ScreenProperties>>()

export function CurrentScreen(): JSX.Element | null {
  const { path } = here.value
  const [, drawAgain] = useState(0)
  const [isAway, setAway] = useState(false)
  const route = ROUTES.find(({ pattern }) => matchPath(pattern, path) !== undefined)
  const name = route?.screen ?? route?.pattern ?? ''
  const screen = route?.screen ?? path
  useEffect(() => {
    setAway(false)
    if (route === undefined || loaded.has(name)) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let hasLeft = false
    const load = async (): Promise<void> => {
      try {
        loaded.set(name, await route.load())
        drawAgain((count) => count + 1)
      } catch {
        // The hub is away, and so are its files.
        if (hasLeft) return
        setAway(true)
        timer = setTimeout(() => void load(), AGAIN_MS)
      }
    }
    void load()
    return () => {
      hasLeft = true
      clearTimeout(timer)
    }
  }, [name])
  // The place has changed, and who reads by ear is told where: the title is the first thing there.
  useEffect(() => {
    document.getElementById('main')?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [screen])
  const home = homePath()
  useEffect(() => {
    if (path === '/' && home !== '/') goTo(hrefOf(home), { isReplacing: true })
  }, [path, home])
  if (route === undefined) return <NotFound />
  if (isBounded() && route.isForSomeHosts !== true) return path === '/' ? null : <OutOfBound />
  const Shown = loaded.get(name)
  if (Shown === undefined) return isAway ? <Away /> : null
  return <Shown key={screen} {...matchPath(route.pattern, path)} />
}

function Away(): JSX.Element {
  const { frame } = words()
  return (
    <Screen title={frame.unreachable}>
      <Notice title={frame.unreachable} hint={frame.unreachableHints.empty} />
    </Screen>
  )
}

function NotFound(): JSX.Element {
  const { frame } = words()
  return (
    <Screen title={frame.notFound}>
      <Notice title={frame.notFound} hint={frame.notFoundHint}>
        <a class="link" href={hrefOf(homePath())}>
          {frame.toOverview}
        </a>
      </Notice>
    </Screen>
  )
}

function OutOfBound(): JSX.Element {
  const { frame } = words()
  return (
    <Screen title={frame.forbidden}>
      <Notice title={frame.outOfBound}>
        <a class="link" href={hrefOf('/hosts')}>
          {frame.toHosts}
        </a>
      </Notice>
    </Screen>
  )
}
