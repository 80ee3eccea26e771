import type { AgentId } from '../../../../protocol/identifiers.ts'
import { isReported, type Labels, toLabelRecord } from '../../../../protocol/labels.ts'
import {
  countGiven,
  findLabelChange,
  hasTooMany,
  type LabelChange,
  withLabels,
} from '../../../domain/label-change.ts'
import type { ObjectChange, PresentObject } from '../../../domain/plan-fleet.ts'
import type { StoreReader } from '../../../store/store.ts'
import { parseGivenLabels, tooManyLabels } from '../../labels/parse-labels.ts'
import { changesOf, type Declarable, valuesAfter } from './declarable.ts'

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
  check: async (reader, changes) => void (await findChanges(reader, changes)),
  apply: async (writer, changes) => {
    const touched = changesOf(changes, KIND, 'update')
    await writer.changeLabels(await findChanges(writer, changes))
    return touched.map(({ name, id }) => ({ name, id: id ?? '', said: { agente_id: id } }))
  },
}

/** Throws when a host would have too many. */
async function findChanges(
  reader: StoreReader,
  changes: readonly ObjectChange[],
): Promise<readonly LabelChange[]> {
  const touched = changesOf(changes, KIND, 'update')
  const labels = await reader.listLabels(touched.map(({ id }) => id as AgentId))
  return touched.flatMap((change) => {
    const id = change.id as AgentId
    const before: Labels = labels.get(id) ?? new Map()
    const values = Object.entries(valuesAfter(change))
    const set = new Map(values.filter((each): each is [string, string] => each[1] !== null))
    const remove = values.filter(([, value]) => value === null).map(([key]) => key)
    const after = withLabels(before, { set, remove })
    if (hasTooMany(before, after)) throw tooManyLabels(change.name, countGiven(after))
    return findLabelChange(id, before, after) ?? []
  })
}
