import type { RegisterCommand } from '../command-context.ts'
import { listCommand } from '../list-command.ts'
import { stateWord } from '../../terminal/table.ts'
import { hostsOf, silenceOf } from './describe-join-rule.ts'

export const registerJoinRuleList: RegisterCommand = listCommand({
  description: 'list the join rules, newest first; never their tokens',
  plural: 'join_rules',
  ask: (operations, page) => operations.listJoinRules(page),
  nameOf: (rule) => rule.name,
  columns: {
    name: (rule) => rule.name,
    pattern: (rule) => rule.pattern,
    role: (rule) => rule.role,
    state: (rule) => stateWord(rule.state),
    hosts: hostsOf,
    expires_at: (rule) => rule.expires_at,
  },
  wide: {
    id: (rule) => rule.id,
    method: (rule) => rule.method,
    silent_seconds: silenceOf,
    created_at: (rule) => rule.created_at,
    ended_at: (rule) => rule.ended_at,
  },
})
