import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import type { AgentId, DeliveryId } from '../../protocol/identifiers.ts'
import { hostsOfEntry, isAboutHosts } from './entry-hosts.ts'

const NOBODY = { agentId: null, deliveryId: null }
const act = (payload: object) => ({ ...NOBODY, payloadText: JSON.stringify(payload) })
const about = (payload: object, deliveryAgent?: string) => {
  const { agentIds, hostnames } = hostsOfEntry(act(payload), deliveryAgent)
  return [agentIds, hostnames]
}

describe('[WHK-18] the hosts of an entry', () => {
  test('are its sender, whatever an agent writes about others', () => {
    const payloadText = '{"agente_id":"other","hostname":"other","agentes":["other"]}'
    const entry = { agentId: 'a' as AgentId, deliveryId: 'd' as DeliveryId, payloadText }
    const { agentIds, hostnames, said } = hostsOfEntry(entry, 'b')
    assert.deepEqual([agentIds, hostnames, said], [['a'], [], undefined])
  })

  test('are the agent of the act, else of its entrega, else the hostname, else all that are named', () => {
    assert.deepEqual(about({ agente_id: 'a', hostname: 'h' }, 'b'), [['a'], []])
    assert.deepEqual(about({ hostname: 'h' }, 'b'), [['b'], []])
    assert.deepEqual(about({ hostname: 'h', agentes: ['i'] }), [[], ['h']])
    assert.deepEqual(about({ agentes: ['h', 7, 'i'] }), [[], ['h', 'i']])
    for (const payload of [{}, { agentes: 7 }, { hostname: null }, { role: 'web' }]) {
      assert.equal(isAboutHosts(hostsOfEntry(act(payload), undefined)), false)
    }
  })

  test('have the role and the labels that the entry says, until somebody knows the host', () => {
    const payload = { hostname: 'new-1', role: 'web', labels: { env: 'prod', odd: 7 } }
    assert.deepEqual(hostsOfEntry(act(payload), undefined).said, {
      hostname: 'new-1',
      role: 'web',
      labels: new Map([['env', 'prod']]),
    })
  })

  test('are none of a payload that is no object, and no text makes it throw', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.json()), (payloadText) => {
        hostsOfEntry({ ...NOBODY, payloadText }, undefined)
      }),
      propertyRuns(),
    )
    for (const payloadText of ['[]', '7', 'null', '"x"', '{', '']) {
      assert.equal(isAboutHosts(hostsOfEntry({ ...NOBODY, payloadText }, undefined)), false)
    }
  })
})
