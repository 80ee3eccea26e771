import type { AgentId } from '../../../../protocol/identifiers.ts'
import { isReported, toLabelRecord } from '../../../../protocol/labels.ts'
import {
  countGiven,
  hasTooMany,
  type LabelChange,
  type WantedLabels,
  withLabels,
} from '../../../domain/label-change.ts'
import type { ObjectChange, PresentObject } from '../../../domain/plan-fleet.ts'
import { parseGivenLabels, tooManyLabels } from '../../labels/parse-labels.ts'
import { changesOf, type Declarable } from './declarable.ts'

const KIND = 'agente'

/** The labels of hosts, by hostname: each key is a field. Revoked hosts have labels too. */
export const declaredLabels: Declarable = {
  kind: KIND,
  whenUndeclared: 'remove fields',
  declare: async (_reader, { agentes = [] }) =>
    agentes.map(({ hostname, labels }) => ({
      kind: KIND,
      name: hostname,
      fields: toLabelRecord(parseGivenLabels(labels)),
    })),
  read: async (reader, { names, ids }) => {
    const named = await reader.findAgentsNamed(names)
    const known = new Set<string>(named.map(({ id }) => id))
    const others = await reader.findAgents(ids.filter((id) => !known.has(id)) as AgentId[])
    const agents = [...named, ...others.filter(({ removedAt }) => removedAt === null)]
    const labels = await reader.listLabels(agents.map(({ id }) => id))
    return agents.map(({ id, hostname }): PresentObject => {
      const given = [...(labels.get(id) ?? [])].filter(([key]) => !isReported(key))
      return { kind: KIND, id, name: hostname, fields: Object.fromEntries(given) }
    })
  },
  markTodo: (change) =>
    change.action === 'create'
      ? { ...change, action: 'todo', todo: 'it has yet to enrol' }
      : change,
  check: async (reader, changes) => {
    const touched = changesOf(changes, KIND, 'update')
    const labels = await reader.listLabels(touched.map(({ id }) => id as AgentId))
    for (const change of touched) {
      const before = labels.get(change.id as AgentId) ?? new Map()
      const after = withLabels(before, wantedLabels(change))
      if (hasTooMany(before, after)) throw tooManyLabels(change.name, countGiven(after))
    }
  },
  apply: async (writer, changes) => {
    const touched = changesOf(changes, KIND, 'update')
    await writer.changeLabels(touched.map(toLabelChange))
    return touched.map(({ name, id }) => ({ name, id: id ?? '', said: { agente_id: id } }))
  },
}

function wantedLabels(change: ObjectChange): WantedLabels {
  const set = new Map<string, string>()
  const remove: string[] = []
  for (const { field, after } of change.fields) {
    if (typeof after === 'string') set.set(field, after)
    else remove.push(field)
  }
  return { set, remove }
}

/** A change has only what is different. */
function toLabelChange(change: ObjectChange): LabelChange {
  const { set, remove } = wantedLabels(change)
  return { agentId: change.id as AgentId, set, removed: remove }
}
