// Finds what an operator has a name, an id, a serial or a number of: a few look-ups in indexes, and of names the index of
// the hosts. docs/protocol.md API-125.

import type { AdminReplies, AdminOperationName } from '../../../protocol/admin/operations.ts'
import { ADMIN_OPERATIONS } from '../../../protocol/admin/operations.ts'
import { includesRole } from '../../../protocol/admin/roles.ts'
import type { SearchKind } from '../../../protocol/admin/search.ts'
import type { AgentId, CargoId, DeliveryId, JoinRuleId } from '../../../protocol/identifiers.ts'
import type { Selector } from '../../../protocol/selector.ts'
import type { Agent } from '../../domain/agent.ts'
import type { IssuedCertificate } from '../../domain/issued-certificate.ts'
import type { StoreReader } from '../../store/store.ts'
import type { AdminAsker, Read } from '../admin-act.ts'
import { agentSlices, keepMatchingAgents } from '../agent-slices.ts'
import type { AdminContext } from './admin-context.ts'

type Hit = AdminReplies['search']['hits'][number]

const HITS_MAX = 20
/** So that no kind takes all places. */
const HITS_OF_KIND_MAX = 8
/** Shorter beginnings of what is random say nothing, and many have them. */
const HEX_CHARACTERS_MIN = 6
const TOKEN_ID_LENGTH = 16

interface Search extends AdminAsker, Pick<AdminContext, 'refusals'> {
  readonly reader: StoreReader
  /** As it was typed, and in lower case. */
  readonly q: string
  readonly text: string
}

export const search: Read<'search', Pick<AdminContext, 'refusals'>> = async (
  reader,
  { q: typed },
  context,
) => {
  const q = typed.trim()
  if (q === '') return { hits: [] }
  const asked: Search = { ...context, reader, q, text: q.toLowerCase() }
  const hits: Hit[] = []
  for (const find of context.only === undefined ? FINDERS : BOUNDED_FINDERS) {
    hits.push(...(await find(asked)).slice(0, HITS_OF_KIND_MAX))
  }
  return { hits: hits.toSorted(exactFirst(q)).slice(0, HITS_MAX) }
}

/** What somebody has the whole id or number of is what they look for. */
function exactFirst(q: string): (one: Hit, other: Hit) => number {
  const isExact = ({ id, title }: Hit): number => (id === q || title === q ? 0 : 1)
  return (one, other) => isExact(one) - isExact(other)
}

type Find = (search: Search) => Promise<readonly Hit[]>

const findAgents: Find = async ({ reader, q, text, only, refusals }) => {
  const hits = new Map<AgentId, Hit>()
  const add = (agents: readonly Agent[], matched: string): void => {
    for (const { id, hostname } of agents) {
      if (!hits.has(id)) hits.set(id, { kind: 'agente', id, title: hostname, matched })
    }
  }
  const refused = refusals?.findRequest(q)
  add(await readAgents(reader, only, [q as AgentId]), 'id')
  add(await readAgents(reader, only, refused === undefined ? [] : [refused]), 'request_id')
  const named = await reader.findAgentByHostname(text)
  add(await keepVisible(reader, only, named === undefined ? [] : [named]), 'hostname')
  for await (const agents of agentSlices(reader, { where: only, text })) {
    add(agents, 'hostname')
    if (hits.size >= HITS_OF_KIND_MAX) break
  }
  return [...hits.values()]
}

const findCargoes: Find = async ({ reader, q }) => {
  const byId = await reader.findCargo(q as CargoId)
  const named = await reader.listCargoesByPrefix(q, HITS_OF_KIND_MAX)
  return [
    ...(byId === undefined ? [] : [hit('carga', byId.id, byId.name, 'id')]),
    ...named.filter(({ id }) => id !== q).map(({ id, name }) => hit('carga', id, name, 'nome')),
  ]
}

const findDelivery: Find = async ({ reader, q, only }) => {
  const found = await reader.findDeliveryWithCargo(q as DeliveryId)
  if (found === undefined || (await readAgents(reader, only, [found.agentId])).length === 0)
    return []
  return [hit('entrega', found.id, `${found.hostname}/${found.cargo.name}`, 'id')]
}

/** As people copy it: with colons, in capitals. */
const findCertificates: Find = async ({ reader, text, only }) => {
  const hex = text.replaceAll(':', '')
  if (!/^[0-9a-f]+$/.test(hex) || hex.length < HEX_CHARACTERS_MIN) return []
  const exact = await reader.findCertificate(hex)
  const bySerial = await reader.listCertificatesBySerial(hex, HITS_OF_KIND_MAX)
  const hits: Hit[] = []
  const add = async (certificate: IssuedCertificate, matched: string): Promise<void> => {
    const { sha256, serial, purpose, agentId } = certificate
    const [agent] = await readAgents(reader, only, [agentId])
    if (agent === undefined) return
    hits.push(hit('certificado', sha256, `${agent.hostname} ${purpose} ${serial}`, matched))
  }
  if (exact !== undefined) await add(exact, 'sha256')
  for (const certificate of bySerial) await add(certificate, 'serial')
  return hits
}

/** Of the entries that the vault itself has: those in segments are found by their number in the log. */
const findEntries: Find = async ({ reader, q }) => {
  const seqs = /^[1-9]\d{0,14}$/.test(q) ? [Number(q)] : []
  const byNumber = await reader.findEntries(seqs)
  const byRequest = await reader.findEntries(await reader.listSeqsOfRequest(q, HITS_OF_KIND_MAX))
  return [
    ...byNumber.map((entry) => ({ entry, matched: 'seq' })),
    ...byRequest.map((entry) => ({ entry, matched: 'request_id' })),
  ].map(({ entry: { seq, eventType, timestamp }, matched }) =>
    hit('evento', `${seq}`, `${eventType} ${timestamp}`, matched),
  )
}

const findTokens: Find = async ({ reader, text }) => {
  if (!/^[0-9a-f]{6,16}$/.test(text)) return []
  const tokens = await reader.findTokensByPrefix(text)
  return tokens
    .slice(0, HITS_OF_KIND_MAX)
    .map(({ hash, expectedHostname: name }) =>
      hit('token', hash.slice(0, TOKEN_ID_LENGTH), name, 'id'),
    )
}

const findJoinRules: Find = async ({ reader, q, text }) => {
  const byId = await reader.findJoinRule(text as JoinRuleId)
  const named = await reader.findJoinRuleNamed(q)
  return [
    ...(byId === undefined ? [] : [hit('join_rule', byId.id, byId.name, 'id')]),
    ...(named === undefined ? [] : [hit('join_rule', named.id, named.name, 'name')]),
  ]
}

/** They are few, and written by hand. */
const findPolicies: Find = async ({ reader, q, text }) => {
  const ofRoles = (await reader.listPolicies()).map(({ role, name }) => ({ id: role, name }))
  const narrowing = (await reader.listSelectorPolicies()).map(({ name }) => ({ id: name, name }))
  return [...ofRoles, ...narrowing].flatMap(({ id, name }) => {
    if (id === q) return [hit('politica', id, name, id === name ? 'nome' : 'role')]
    return name.toLowerCase().includes(text) ? [hit('politica', id, name, 'nome')] : []
  })
}

const findWebhooks: Find = async ({ reader, q, text, role }) => {
  if (!mayAsk(role, 'listWebhooks')) return []
  return (await reader.webhooks.list()).flatMap(({ id, url }) => {
    if (id === q) return [hit('webhook', id, url, 'id')]
    return url.toLowerCase().includes(text) ? [hit('webhook', id, url, 'url')] : []
  })
}

const findAccessTokens: Find = async ({ reader, text, role }) => {
  if (!mayAsk(role, 'listAccessTokens')) return []
  return (await reader.listAccessTokens()).flatMap(({ hash, name }) => {
    const id = hash.slice(0, TOKEN_ID_LENGTH)
    if (text.length >= HEX_CHARACTERS_MIN && id.startsWith(text)) {
      return [hit('admin_token', id, name, 'id')]
    }
    return name.toLowerCase().includes(text) ? [hit('admin_token', id, name, 'name')] : []
  })
}

/** For a caller that is bounded to some hosts nothing else is there. docs/protocol.md LBL-16. */
const BOUNDED_FINDERS: readonly Find[] = [findAgents, findDelivery, findCertificates]
const FINDERS: readonly Find[] = [
  findAgents,
  findCargoes,
  findDelivery,
  findCertificates,
  findEntries,
  findTokens,
  findJoinRules,
  findPolicies,
  findWebhooks,
  findAccessTokens,
]

function mayAsk(role: AdminAsker['role'], operation: AdminOperationName): boolean {
  return includesRole(role, ADMIN_OPERATIONS[operation].role)
}

function hit(kind: SearchKind, id: string, title: string, matched: string): Hit {
  return { kind, id, title, matched }
}

async function readAgents(
  reader: StoreReader,
  only: Selector | undefined,
  ids: readonly AgentId[],
): Promise<readonly Agent[]> {
  return keepVisible(reader, only, await reader.findAgents(ids))
}

async function keepVisible(
  reader: StoreReader,
  only: Selector | undefined,
  agents: readonly Agent[],
): Promise<readonly Agent[]> {
  // Of a host that was removed its id and its serials are still what somebody asks for.
  if (only === undefined) return agents
  const present = agents.filter(({ removedAt }) => removedAt === null)
  return keepMatchingAgents(reader, only, present)
}
