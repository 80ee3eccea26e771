// What an operator may ask of a policy. Each throws an AdminRefusal on what it cannot be.

import { formatDurationMs } from '../../../platform/durations.ts'
import { AdminRefusal } from '../admin-act.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { Selector } from '../../../protocol/selector.ts'
import { DeliveryKind } from '../../../protocol/words.ts'
import { type Cargo, sharedFileOf } from '../../domain/cargo.ts'
import {
  EVERY_NAME,
  type Policy,
  type PolicyBounds,
  type SelectorPolicy,
} from '../../domain/policy.ts'
import {
  CERT_TTL_SECONDS_MIN,
  findForbiddenSans,
  TOKEN_TTL_SECONDS_MAX,
} from '../../domain/role-rules.ts'
import { isSubjectAltName, sharesHost } from '../../domain/subject-alt-name.ts'
import type { StoreReader } from '../../store/store.ts'
import { findCargo } from '../cargo/find-cargo.ts'

const NO_BOUNDS: Omit<PolicyBounds, 'name'> = {
  tokenTtlSecondsMax: null,
  certTtlSeconds: null,
  permittedSans: [EVERY_NAME],
  areSansNamed: false,
  automaticCargoes: [],
}

export function emptyPolicy(role: string): Policy {
  return { ...NO_BOUNDS, role, name: role, mayOperatorsReenroll: false }
}

export function emptySelectorPolicy(name: string, selector: Selector): SelectorPolicy {
  return { ...NO_BOUNDS, name, selector, mayOperatorsReenroll: null }
}

/** Apart from its cargas, which are looked up. */
export function changePolicy(
  old: Policy,
  request: AdminRequest<'setPolicy'>,
  hubNames: readonly string[],
): Policy {
  const { nome, reenroll } = request
  return {
    ...old,
    ...changeBounds(request, hubNames),
    name: nome ?? old.name,
    ...(reenroll !== undefined && { mayOperatorsReenroll: reenroll }),
  }
}

/** Apart from its cargas and its selector. */
export function changeSelectorPolicy(
  old: SelectorPolicy,
  request: AdminRequest<'setSelectorPolicy'>,
  hubNames: readonly string[],
): SelectorPolicy {
  const { reenroll } = request
  return {
    ...old,
    ...changeBounds(request, hubNames),
    ...(reenroll !== undefined && { mayOperatorsReenroll: reenroll }),
  }
}

/** What the request names of them. */
function changeBounds(
  { token_ttl_max, cert_ttl, sans_permitidos }: AdminRequest<'setPolicy' | 'setSelectorPolicy'>,
  hubNames: readonly string[],
): Partial<PolicyBounds> {
  return {
    ...(token_ttl_max !== undefined && { tokenTtlSecondsMax: parseTokenTtlMax(token_ttl_max) }),
    ...(cert_ttl !== undefined && { certTtlSeconds: parseCertTtl(cert_ttl) }),
    ...(sans_permitidos && {
      permittedSans: parsePermittedSans(sans_permitidos, hubNames),
      areSansNamed: true,
    }),
  }
}

/** The cargas that the request names, in their order; else the cargas that the politica has, without removed ones. */
export async function findAutomaticCargoes(
  reader: StoreReader,
  policy: PolicyBounds,
  asked: readonly string[] | undefined,
): Promise<readonly Cargo[]> {
  if (asked !== undefined) return parseAutomaticCargoes(reader, asked)
  const cargoes = await Promise.all(policy.automaticCargoes.map((id) => reader.findCargo(id)))
  return cargoes.filter((cargo): cargo is Cargo => cargo?.removedAt === null)
}

/** With these in place of its cargas. */
export function withAutomaticCargoes<Of extends PolicyBounds>(
  policy: Of,
  cargoes: readonly Cargo[],
): Of {
  refuseForbiddenNames(policy, cargoes)
  return { ...policy, automaticCargoes: cargoes.map(({ id }) => id) }
}

/** What a policy gives, it permits. */
export function refuseForbiddenNames(policy: PolicyBounds, cargoes: readonly Cargo[]): void {
  for (const { name, sans } of cargoes) {
    const [forbidden] = findForbiddenSans(policy, '', sans)
    if (forbidden === undefined) continue
    throw new AdminRefusal(
      'san_forbidden',
      `the automatic load ${name} has the name ${forbidden}, which the policy does not permit`,
    )
  }
}

/** Beyond what any CA would sign for a host; it keeps sums of lifetimes in bounds. */
const CERT_TTL_SECONDS_MAX = 3650 * 86_400

function parseTokenTtlMax(seconds: number | null): number | null {
  if (seconds === null || seconds <= TOKEN_TTL_SECONDS_MAX) return seconds
  throw new AdminRefusal('ttl_too_long', 'a token lives 7d at most')
}

function parseCertTtl(seconds: number | null): number | null {
  if (seconds === null) return null
  if (seconds < CERT_TTL_SECONDS_MIN) {
    const least = formatDurationMs(CERT_TTL_SECONDS_MIN * 1000)
    throw new AdminRefusal('cert_ttl_too_short', `a certificate lives ${least} at least`)
  }
  if (seconds > CERT_TTL_SECONDS_MAX) {
    throw new AdminRefusal('cert_ttl_too_long', 'a certificate lives 3650d at most')
  }
  return seconds
}

/** Without repetitions. Throws what no politica permits. */
export function parsePermittedSans(
  names: readonly string[],
  hubNames: readonly string[],
): readonly string[] {
  if (names.includes(EVERY_NAME)) return [EVERY_NAME]
  for (const name of names) {
    if (!isSubjectAltName(name)) {
      throw new AdminRefusal('san_invalid', `${name} is neither a name, *.suffix nor an IP address`)
    }
    // A suffix may cover the hub's names, but no carga gets them. docs/protocol.md DEL-15.
    if (!name.startsWith('*.') && hubNames.some((hubName) => sharesHost(name, hubName))) {
      throw new AdminRefusal('san_reserved', `${name} is a name of the hub itself`)
    }
  }
  return [...new Set(names)]
}

async function parseAutomaticCargoes(
  reader: StoreReader,
  ids: readonly string[],
): Promise<readonly Cargo[]> {
  const cargoes: Cargo[] = []
  for (const id of new Set(ids)) cargoes.push(await findCargo(reader, id))
  refuseOtherAutomatic(cargoes)
  return cargoes
}

/** Cargas that no politica gives to its agents, or not to the same ones. */
export function refuseOtherAutomatic(cargoes: readonly Cargo[]): void {
  for (const [at, cargo] of cargoes.entries()) {
    refuseOtherKinds(cargo)
    refuseSharedFile(cargo, cargoes.slice(0, at))
  }
}

function refuseOtherKinds({ kind, name }: Cargo): void {
  if (kind === DeliveryKind.csrCert) return
  throw new AdminRefusal('cargo_not_automatic', `load ${name} is of type ${kind}`, { tipo: kind })
}

function refuseSharedFile(cargo: Cargo, others: readonly Cargo[]): void {
  for (const other of others) {
    const shared = sharedFileOf(other, cargo)
    if (shared === undefined) continue
    throw new AdminRefusal(
      'nome_taken',
      `loads ${other.id} and ${cargo.id} both write ${shared} on the host`,
      { arquivo: shared },
    )
  }
}
