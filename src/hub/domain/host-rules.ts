// What holds for one host: what the politica of its role says, narrowed by each politica whose selector matches the host. Each only
// takes away, so their order says nothing. docs/protocol.md POL-20, POL-21.

import {
  matchesSelector,
  type SelectableHost,
  type Selector,
  type SelectorTerm,
} from '../../protocol/selector.ts'
import type { PolicyBounds, SelectorPolicy } from './policy.ts'
import { findForbiddenSans, type RoleRules } from './role-rules.ts'

/** `permittedSans` and `operatorSans` stay what the role says; `findForbiddenNames` asks the others too. */
export interface HostRules extends RoleRules {
  /** The politicas that match, by name. */
  readonly narrowing: readonly SelectorPolicy[]
  /** The names of the politicas that say how long tokens and certificates live; undefined when none does. */
  readonly tokenTtlPolicy: string | undefined
  readonly certTtlPolicy: string | undefined
}

/** What says which names the host may have. */
export type NameRules = Pick<HostRules, 'policyName' | 'permittedSans' | 'narrowing'>

/** A name that no certificate of the host may have, and the politica that says so. */
export interface ForbiddenName {
  readonly san: string
  /** Undefined for a role without a politica, which forbids nothing. */
  readonly policyName: string | undefined
  readonly isByRole: boolean
}

export function rulesOfHost(
  role: RoleRules,
  policies: readonly SelectorPolicy[],
  host: SelectableHost,
): HostRules {
  return narrowRules(role, matchingPolicies(policies, host))
}

export function matchingPolicies(
  policies: readonly SelectorPolicy[],
  host: SelectableHost,
): readonly SelectorPolicy[] {
  return policies.filter(({ selector }) => matchesSelector(selector, host))
}

export function narrowRules(role: RoleRules, matching: readonly SelectorPolicy[]): HostRules {
  const narrowing = matching.toSorted(byName)
  const token = leastOf(
    { seconds: role.tokenTtlSecondsMax, name: role.policyName },
    narrowing,
    (policy) => policy.tokenTtlSecondsMax,
  )
  const cert = leastOf(
    { seconds: role.certTtlSeconds ?? Number.POSITIVE_INFINITY, name: role.policyName },
    narrowing,
    (policy) => policy.certTtlSeconds,
  )
  const isCertBounded = Number.isFinite(cert.seconds)
  return {
    ...role,
    narrowing,
    tokenTtlSecondsMax: token.seconds,
    tokenTtlSecondsDefault: Math.min(role.tokenTtlSecondsDefault, token.seconds),
    tokenTtlPolicy: token.name,
    certTtlSeconds: isCertBounded ? cert.seconds : undefined,
    certTtlPolicy: isCertBounded ? cert.name : undefined,
    automaticCargoes: [
      ...new Set([role, ...narrowing].flatMap(({ automaticCargoes }) => automaticCargoes)),
    ],
    mayOperatorsReenroll:
      role.mayOperatorsReenroll && narrowing.every((each) => each.mayOperatorsReenroll !== false),
  }
}

/** The names that no certificate of this host may have, each with the first politica that forbids it; its own is always permitted. */
export function findForbiddenNames(
  rules: NameRules,
  hostname: string,
  sans: readonly string[],
): ForbiddenName[] {
  return sans.flatMap((san): ForbiddenName[] => {
    if (isForbiddenBy(rules, hostname, san)) {
      return [{ san, policyName: rules.policyName, isByRole: true }]
    }
    const by = rules.narrowing.find((policy) => isForbiddenBy(policy, hostname, san))
    return by === undefined ? [] : [{ san, policyName: by.name, isByRole: false }]
  })
}

/**
 * The politicas that may match a host of which only the role, the labels and some of its name are known. One that asks for a
 * name, or excludes one, may match when any name that the host may have makes it match.
 */
export function possiblyMatching(
  policies: readonly SelectorPolicy[],
  host: Omit<SelectableHost, 'hostname'>,
  mayBeNamed: (hostname: string) => boolean,
): readonly SelectorPolicy[] {
  return policies.filter(({ selector }) => mayMatch(selector, host, mayBeNamed))
}

function mayMatch(
  { terms }: Selector,
  host: Omit<SelectableHost, 'hostname'>,
  mayBeNamed: (hostname: string) => boolean,
): boolean {
  const known = terms.filter(({ key }) => key !== 'name')
  if (!matchesSelector({ terms: known }, { ...host, hostname: '' })) return false
  return terms.every((term) => term.key !== 'name' || mayNameMatch(term, mayBeNamed))
}

/** A pattern has more names than a term can exclude. */
function mayNameMatch(
  { values, isNegated }: SelectorTerm,
  mayBeNamed: (hostname: string) => boolean,
): boolean {
  if (isNegated) return values !== undefined
  return values === undefined || values.some(mayBeNamed)
}

interface Least {
  readonly seconds: number
  readonly name: string | undefined
}

/** Who says the least; of those that say the same the first. */
function leastOf(
  first: Least,
  policies: readonly SelectorPolicy[],
  secondsOf: (policy: PolicyBounds) => number | null,
): Least {
  return policies.reduce((least, policy) => {
    const seconds = secondsOf(policy)
    return seconds !== null && seconds < least.seconds ? { seconds, name: policy.name } : least
  }, first)
}

function isForbiddenBy(
  bounds: Pick<PolicyBounds, 'permittedSans'>,
  hostname: string,
  san: string,
): boolean {
  return findForbiddenSans(bounds, hostname, [san]).length > 0
}

function byName(one: SelectorPolicy, other: SelectorPolicy): number {
  return one.name < other.name ? -1 : 1
}
