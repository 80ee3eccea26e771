// The sections of the console, in their order: what the side shows, and where ⌘K leads.

import { holder } from '../api/session.ts'
import type { IconName } from '../parts/icon.tsx'
import type { Words } from '../words/words.ts'

export interface Section {
  readonly path: string
  readonly icon: IconName
  readonly label: keyof Words['frame'] & SectionLabel
  /** For tokens of all hosts, or of some; both without it. */
  readonly isFor?: 'all' | 'some'
}

type SectionLabel =
  | 'overview'
  | 'hosts'
  | 'cargo'
  | 'deliveries'
  | 'certificates'
  | 'policies'
  | 'rollouts'
  | 'enrolment'
  | 'audit'
  | 'roots'
  | 'revocations'
  | 'webhooks'
  | 'access'
  | 'hubs'

const SECTIONS: Readonly<Record<'fleet' | 'evidence' | 'hub', readonly Section[]>> = {
  fleet: [
    { path: '/', icon: 'gauge', label: 'overview', isFor: 'all' },
    { path: '/hosts', icon: 'server', label: 'hosts' },
    { path: '/cargo', icon: 'package', label: 'cargo', isFor: 'all' },
    { path: '/deliveries', icon: 'send', label: 'deliveries' },
    { path: '/certificates', icon: 'shield-check', label: 'certificates', isFor: 'some' },
    { path: '/rollouts', icon: 'waves', label: 'rollouts', isFor: 'all' },
    { path: '/policies', icon: 'scale', label: 'policies', isFor: 'all' },
    { path: '/enrolment', icon: 'ticket', label: 'enrolment', isFor: 'all' },
  ],
  evidence: [
    { path: '/audit', icon: 'scroll', label: 'audit', isFor: 'all' },
    { path: '/roots', icon: 'landmark', label: 'roots', isFor: 'all' },
    { path: '/revocations', icon: 'octagon-x', label: 'revocations', isFor: 'all' },
  ],
  hub: [
    { path: '/webhooks', icon: 'webhook', label: 'webhooks', isFor: 'all' },
    { path: '/access', icon: 'key', label: 'access', isFor: 'all' },
    { path: '/hub', icon: 'archive', label: 'hubs', isFor: 'all' },
  ],
}

/** Those that this token can ask for. */
export function sectionsOf(group: keyof typeof SECTIONS): readonly Section[] {
  const held = isBounded() ? 'some' : 'all'
  return SECTIONS[group].filter(({ isFor = held }) => isFor === held)
}

/** The token is for some hosts: what is not about hosts is refused. docs/protocol.md LBL-15. */
export function isBounded(): boolean {
  return (holder.value?.only ?? null) !== null
}

/** Where one is who wants nothing in particular. */
export function homePath(): string {
  return isBounded() ? '/hosts' : '/'
}

/** Whether a section holds the place: `/hosts/x` is in `/hosts`. */
export function isIn(section: string, path: string): boolean {
  return section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`)
}
