import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLI_VARIABLES } from '../admin/doors/hub-options.ts'
import { AGENT_VARIABLES } from '../agent/settings/agent-variables.ts'
import { parseAgentConfig } from '../agent/settings/config.ts'
import { HUB_VARIABLES } from '../hub/hub-variables.ts'
import {
  AGENT_VARIABLE_NAMES,
  CLI_VARIABLE_NAMES,
  findUnknownVariables,
  HUB_VARIABLE_NAMES,
} from './variable-names.ts'

function withPrefix(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith('SVC_')).sort()
}

test('the names of the hub are those of its table, a secret with its file', () => {
  const names = HUB_VARIABLES.flatMap(({ name, isSecret }) =>
    isSecret === true ? [name, `${name}_FILE`] : [name],
  )
  assert.deepEqual([...HUB_VARIABLE_NAMES].sort(), withPrefix(names))
})

test('the names of the agent are those of its table', () => {
  const names = AGENT_VARIABLES.map(({ name }) => name)
  assert.deepEqual([...AGENT_VARIABLE_NAMES].sort(), withPrefix(names))
})

test('the names of the CLI are those of its table', () => {
  assert.deepEqual(
    CLI_VARIABLE_NAMES,
    CLI_VARIABLES.map(({ name }) => name),
  )
})

test('neither warns about a variable of the other, and both warn about a misspelt one', () => {
  const names = [
    ...HUB_VARIABLE_NAMES,
    ...AGENT_VARIABLE_NAMES,
    ...CLI_VARIABLE_NAMES,
    'SVC_SERVER_ULR',
  ]
  const environment = Object.fromEntries(names.map((name) => [name, '']))
  const agent = parseAgentConfig(environment, { command: 'identity', osHostname: 'web-1' })
  assert.deepEqual(agent.unknownVariables, ['SVC_SERVER_ULR'])
  assert.deepEqual(findUnknownVariables(environment), ['SVC_SERVER_ULR'])
})
