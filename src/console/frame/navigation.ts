// The sections of the console, in their order: what the side shows, and where ⌘K leads.

import type { IconName } from '../parts/icon.tsx'
import type { Words } from '../words/words.ts'

export interface Section {
  readonly path: string
  readonly icon: IconName
  readonly label: keyof Words['frame'] & SectionLabel
}

type SectionLabel =
  | 'overview'
  | 'hosts'
  | 'cargo'
  | 'deliveries'
  | 'policies'
  | 'rollouts'
  | 'enrolment'
  | 'audit'
  | 'roots'
  | 'revocations'
  | 'webhooks'
  | 'access'

export const SECTIONS: Readonly<Record<'fleet' | 'evidence' | 'hub', readonly Section[]>> = {
  fleet: [
    { path: '/', icon: 'gauge', label: 'overview' },
    { path: '/hosts', icon: 'server', label: 'hosts' },
    { path: '/cargo', icon: 'package', label: 'cargo' },
    { path: '/deliveries', icon: 'send', label: 'deliveries' },
    { path: '/rollouts', icon: 'waves', label: 'rollouts' },
    { path: '/policies', icon: 'scale', label: 'policies' },
    { path: '/enrolment', icon: 'ticket', label: 'enrolment' },
  ],
  evidence: [
    { path: '/audit', icon: 'scroll', label: 'audit' },
    { path: '/roots', icon: 'landmark', label: 'roots' },
    { path: '/revocations', icon: 'octagon-x', label: 'revocations' },
  ],
  hub: [
    { path: '/webhooks', icon: 'webhook', label: 'webhooks' },
    { path: '/access', icon: 'key', label: 'access' },
  ],
}

/** Whether a section holds the place: `/hosts/x` is in `/hosts`. */
export function isIn(section: string, path: string): boolean {
  return section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`)
}
