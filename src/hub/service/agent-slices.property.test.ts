// What the indexes answer for a selector is what the selector itself says of each host.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import { newAgent, NOW } from '../../../test/store/store-samples.ts'
import { propertyRuns } from '../../../test/support/property.ts'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import type { Labels } from '../../protocol/labels.ts'
import { formatSelector, matchesSelector, type Selector } from '../../protocol/selector.ts'
import type { Agent } from '../domain/agent.ts'
import type { Store } from '../store/store.ts'
import { agentSlices } from './agent-slices.ts'

const HOSTS = 60
const ENVS = ['prod', 'stage', '']
const ROLES = ['web', 'db']
const key = fc.constantFrom('env', 'zone', 'host.os', 'canary', 'role', 'name', 'none')
const value = fc.constantFrom(...ENVS, ...ROLES, 'z1', 'linux', 'host-07', 'host-41', 'else')
const selector: fc.Arbitrary<Selector> = fc.record({
  terms: fc.array(
    fc.record({
      key,
      values: fc.option(fc.uniqueArray(value, { minLength: 1, maxLength: 3 }), { nil: undefined }),
      isNegated: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
})

let store: Store & AsyncDisposable
const hosts: { readonly agent: Agent; readonly labels: Labels }[] = []

before(async () => {
  store = await openTemporaryStore()
  for (let at = 0; at < HOSTS; at += 1) {
    const agent = newAgent(`host-${`${at}`.padStart(2, '0')}`)
    const labels = new Map<string, string>()
    if (at % 5 > 0) labels.set('env', ENVS[at % 3] ?? '')
    if (at % 4 > 0) labels.set('zone', `z${at % 4}`)
    if (at % 7 > 0) labels.set('host.os', 'linux')
    if (at % 29 === 7) labels.set('canary', '')
    hosts.push({ agent: { ...agent, role: ROLES[at % 2] ?? '' }, labels })
  }
  await store.write(async (writer) => {
    const gone = { ...newAgent('host-00'), revokedAt: NOW, removedAt: NOW }
    for (const { agent } of [{ agent: gone }, ...hosts].toReversed())
      await writer.insertAgent(agent)
    const labels = new Map([['env', 'prod']])
    await writer.changeLabels([
      { agentId: gone.id, set: labels, removed: [] },
      ...hosts.map(({ agent, labels: set }) => ({ agentId: agent.id, set, removed: [] })),
    ])
  })
})
after(() => store[Symbol.asyncDispose]())

test('[LBL-6] the hosts of any selector are those that it matches, by hostname, in slices and in pages', async () => {
  await fc.assert(
    fc.asyncProperty(
      selector,
      fc.integer({ min: 1, max: 70 }),
      fc.nat(HOSTS - 1),
      async (where, sliceAgents, start) => {
        const wanted = hosts
          .filter(({ agent: { hostname, role }, labels }) =>
            matchesSelector(where, { hostname, role, labels }),
          )
          .map(({ agent }) => agent.hostname)
        const found: string[] = []
        for await (const slice of agentSlices(store.reader, { where, sliceAgents })) {
          assert.ok(slice.length > 0 && slice.length <= sliceAgents)
          found.push(...slice.map(({ hostname }) => hostname))
        }
        assert.deepEqual(found, wanted, formatSelector(where))
        const from = hosts[start]?.agent ?? assert.fail()
        const rest = wanted.filter((name) => name > from.hostname)
        for (const text of [undefined, '1', '-2', 'nothing']) {
          const read: string[] = []
          const walk = { where, after: from.id, text, sliceAgents }
          for await (const slice of agentSlices(store.reader, walk)) {
            read.push(...slice.map(({ hostname }) => hostname))
          }
          const named = rest.filter((name) => name.includes(text ?? ''))
          assert.deepEqual(read, named, `${formatSelector(where)} ${text}`)
        }
      },
    ),
    propertyRuns(200),
  )
})
