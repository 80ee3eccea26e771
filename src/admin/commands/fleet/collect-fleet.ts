// The present fleet as a declaration: what a plan of it finds nothing to do for. No secret is in any list.

import { DECLARED_MAX, type FleetDeclaration } from '../../../protocol/admin/declared.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminCargo, AdminSelectorPolicy } from '../../../protocol/admin/views.ts'
import { isReported, splitLabel } from '../../../protocol/labels.ts'
import { DeliveryKind } from '../../../protocol/words.ts'
import { readListPages } from '../list-pages.ts'

export interface CollectedFleet {
  readonly declaration: FleetDeclaration
  /** What could not be declared, and why. */
  readonly left_out: readonly string[]
}

export async function collectFleet(operations: AdminOperations): Promise<CollectedFleet> {
  const leftOut: string[] = []
  const bounded = <T>(plural: keyof typeof DECLARED_MAX, what: string, found: T[]): T[] => {
    const most = DECLARED_MAX[plural]
    if (found.length <= most) return found
    leftOut.push(`${found.length} ${what}: one declaration has at most ${most}`)
    return []
  }
  const loads = await collectLoads(operations)
  const selected = await collectSelected(operations, loads, leftOut)
  const cargas = bounded('cargas', 'loads of selectors', selected)
  const politicas = bounded('politicas', 'policies', await collectPolicies(operations, loads))
  const narrowing = await collectSelectorPolicies(operations, loads)
  const politicas_seletor = bounded('politicas_seletor', 'policies with selectors', narrowing)
  const join_rules = bounded('join_rules', 'join rules', await collectJoinRules(operations))
  const hooks = await collectWebhooks(operations, leftOut)
  const webhooks = bounded('webhooks', 'webhooks', hooks)
  const admin_tokens = bounded('admin_tokens', 'bounded tokens', await collectBounds(operations))
  const agentes = bounded('agentes', 'agents with labels', await collectLabels(operations))
  return {
    declaration: {
      cargas,
      politicas,
      politicas_seletor,
      join_rules,
      webhooks,
      admin_tokens,
      agentes,
    },
    left_out: leftOut,
  }
}

async function all<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const rows: T[] = []
  for await (const page of pages) rows.push(...page)
  return rows
}

function collectLoads(operations: AdminOperations): Promise<AdminCargo[]> {
  const pages = readListPages(
    (page) => operations.listCargoes(page),
    (page) => page.cargas,
  )
  return all(pages)
}

/** Those that belong to selectors: who has the others is not for files to say. */
async function collectSelected(
  operations: AdminOperations,
  loads: readonly AdminCargo[],
  leftOut: string[],
) {
  const names = namesOf(loads)
  const declared: NonNullable<FleetDeclaration['cargas']> = []
  for (const { id, nome, tipo, where, sans } of loads) {
    if (where === null) continue
    const base = { nome, tipo, where }
    if (names.get(id) !== nome) leftOut.push(`load ${nome}: more than one has this name`)
    else if (tipo !== DeliveryKind.sealed) declared.push({ ...base, sans })
    else {
      const { conteudo } = await operations.showCargo({ carga: id })
      declared.push({ ...base, ...(conteudo !== null && { sha256: conteudo.sha256 }) })
    }
  }
  return declared
}

async function collectPolicies(operations: AdminOperations, loads: readonly AdminCargo[]) {
  const names = namesOf(loads)
  const pages = readListPages(
    (page) => operations.listPolicies(page),
    (page) => page.politicas,
  )
  return (await all(pages)).map((politica) => {
    const { role, nome, reenroll } = politica
    return { role, nome, ...boundsOf(politica, names), reenroll }
  })
}

async function collectSelectorPolicies(operations: AdminOperations, loads: readonly AdminCargo[]) {
  const names = namesOf(loads)
  const pages = readListPages(
    (page) => operations.listSelectorPolicies(page),
    (page) => page.politicas,
  )
  return (await all(pages)).map((politica) => {
    const { nome, where, reenroll } = politica
    // Null says nothing of it.
    return { nome, where, ...boundsOf(politica, names), ...(reenroll !== null && { reenroll }) }
  })
}

function boundsOf(
  politica: Omit<AdminSelectorPolicy, 'nome' | 'where' | 'reenroll'>,
  names: ReadonlyMap<string, string>,
) {
  const { token_ttl_max, cert_ttl, sans_permitidos, sans_nomeados, cargas_automaticas } = politica
  return {
    token_ttl_max,
    cert_ttl,
    // That all are permitted is another thing when nobody said so.
    ...(sans_nomeados && { sans_permitidos }),
    cargas_automaticas: cargas_automaticas.flatMap((id) => names.get(id) ?? []),
  }
}

/** By id: the name, or the id where several have that name. */
function namesOf(cargas: readonly AdminCargo[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const { nome } of cargas) counts.set(nome, (counts.get(nome) ?? 0) + 1)
  return new Map(cargas.map(({ id, nome }) => [id, counts.get(nome) === 1 ? nome : id]))
}

async function collectJoinRules(operations: AdminOperations) {
  const pages = readListPages(
    (page) => operations.listJoinRules(page),
    (page) => page.join_rules,
  )
  const inForce = (await all(pages)).filter(({ state }) => state === 'open' || state === 'full')
  return inForce.map((rule) => {
    const { name, method, pattern, role, hosts_max, silent_seconds } = rule
    const lifeMs = Date.parse(rule.expires_at) - Date.parse(rule.created_at)
    return {
      name,
      // That of a rule without it.
      ...(method !== 'token' && { method }),
      pattern,
      role,
      hosts_max,
      labels: toRecord(rule.labels),
      ttl_seconds: Math.round(lifeMs / 1000),
      silent_seconds,
    }
  })
}

async function collectWebhooks(operations: AdminOperations, leftOut: string[]) {
  const pages = readListPages(
    (page) => operations.listWebhooks(page),
    (page) => page.webhooks,
  )
  const byUrl = Map.groupBy(await all(pages), ({ url }) => url)
  return [...byUrl].flatMap(([url, [webhook, ...others]]) => {
    if (webhook !== undefined && others.length === 0)
      return [{ url, tipos: webhook.tipos, ...whereOf(webhook) }]
    leftOut.push(`webhook ${url}: ${others.length + 1} of them have this URL`)
    return []
  })
}

function whereOf({ where }: { where?: string | null }): { where?: string } {
  return typeof where === 'string' ? { where } : {}
}

async function collectBounds(operations: AdminOperations) {
  const pages = readListPages(
    (page) => operations.listAccessTokens(page),
    (page) => page.admin_tokens,
  )
  const tokens = (await all(pages)).filter(({ revoked_at }) => revoked_at === null)
  // A token that has expired may have the name of a newer one.
  const seen = new Set<string>()
  return tokens.flatMap(({ name, only }) => {
    if (seen.has(name)) return []
    seen.add(name)
    return only === null ? [] : [{ name, only }]
  })
}

async function collectLabels(operations: AdminOperations) {
  const pages = readListPages(
    (page) => operations.listAgents(page),
    (page) => page.agentes,
  )
  const agents: { hostname: string; labels: Record<string, string> }[] = []
  for await (const page of pages) {
    for (const { hostname, labels } of page) {
      const given = toRecord(labels)
      if (Object.keys(given).length > 0) agents.push({ hostname, labels: given })
    }
  }
  return agents
}

/** Of `key=value`, without what agents report. */
function toRecord(labels: readonly string[]): Record<string, string> {
  const pairs = labels.flatMap((label) => splitLabel(label) ?? [])
  return Object.fromEntries(
    pairs.filter(({ key }) => !isReported(key)).map(({ key, value }) => [key, value]),
  )
}
