import { invariant } from '../../../../platform/errors.ts'
import { quoteForShell } from '../../../../platform/quote-for-shell.ts'
import { formatSelector } from '../../../../protocol/selector.ts'
import { isGood } from '../../../domain/access-token.ts'
import { parseDecidingWhere } from '../../parse-where.ts'
import { type AppliedChange, changesOf, type Declarable, valuesAfter } from './declarable.ts'

const KIND = 'admin_token'
const ID_LENGTH = 16

/** Only the bounds of tokens that somebody made: no file makes one, and none that is for all hosts can be bounded later. */
export const declaredAccessTokens: Declarable = {
  kind: KIND,
  whenUndeclared: 'release',
  declare: async (_reader, { admin_tokens = [] }) =>
    admin_tokens.map(({ name, only }) => ({
      kind: KIND,
      name,
      fields: { only: formatSelector(parseDecidingWhere(only, `only of admin token ${name}`)) },
    })),
  read: async (reader, { names, ids }, { now }) => {
    const tokens = await reader.listAccessTokens()
    return tokens
      .filter((token) => isGood(token, now))
      .filter(({ name, hash }) => names.includes(name) || ids.includes(hash))
      .map(({ hash, name, only }) => ({ kind: KIND, id: hash, name, fields: { only } }))
  },
  markTodo: (change) => {
    const [bound] = change.fields
    if (bound === undefined || bound.before !== null) return change
    const { name, id } = change
    const only = typeof bound.after === 'string' ? quoteForShell(bound.after) : ''
    const create = `svc admin token create --name ${name} --role viewer --only ${only}`
    if (id === null) return { ...change, action: 'todo', todo: `make it, of its role: ${create}` }
    const todo = `it is for all hosts and stays so: svc admin token revoke ${name}, then ${create}`
    return { ...change, fields: [{ ...bound, todo }], action: 'todo', takes: [] }
  },
  apply: async (writer, changes) => {
    const applied: AppliedChange[] = []
    const tokens = await writer.listAccessTokens()
    for (const change of changesOf(changes, KIND, 'update')) {
      const token = tokens.find(({ hash }) => hash === change.id)
      const { only } = valuesAfter(change)
      invariant(token !== undefined && typeof only === 'string', 'a bounded token gets a bound')
      await writer.updateAccessToken({ ...token, only })
      const said = { admin_token_id: token.hash.slice(0, ID_LENGTH), only }
      applied.push({ name: change.name, id: token.hash, said })
    }
    return applied
  },
}
