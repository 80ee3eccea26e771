import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { Secret } from '../platform/secret.ts'
import { requireReadableFor } from './require-readable-tables.ts'
import type { RegisteredHub } from './store/hub-registry.ts'
import { HubSeal } from './store/hub-seal.ts'

const HERE = '6a0c2f7e-8f3b-4d0e-9d9f-2f6f6c1c7a10'
const THERE = '7b1c2f7e-8f3b-4d0e-9d9f-2f6f6c1c7a11'
const STEP = { from: 37, to: 39, readableFrom: 38, sql: [] }
const seal = new HubSeal(new Secret(randomBytes(32)), 'a-vault')

function hubOf(id: string, state: RegisteredHub['state'], tables: number): RegisteredHub {
  const described = { host: 'hub-2.example', version: '0.9.0', startedAt: 'then', tables }
  return {
    id,
    state,
    sealed: seal.seal(id, described),
    position: 0,
    clockAheadMs: 0,
    lastBeatAt: new Date(0),
    silentMs: 0,
    leases: [],
  }
}

const among =
  (...hubs: readonly RegisteredHub[]) =>
  (): Promise<void> =>
    requireReadableFor(
      { hubs: { list: async () => ({ hubs, end: 0 }) }, hubSeal: seal },
      HERE,
    )(STEP)

describe('whether a hub may bring the tables forward', () => {
  test('[JRN-15] it may when each hub that runs, or is silent, knows from where they are readable', async () => {
    await among(hubOf(THERE, 'running', 38), hubOf(THERE, 'silent', 39))()
  })

  test('[JRN-15] it may not when one of them does not, which is named', async () => {
    for (const state of ['running', 'silent'] as const) {
      await assert.rejects(among(hubOf(THERE, state, 37)), {
        code: 'hubs_older',
        message: `this version needs tables of format 39, which hub ${THERE} at hub-2.example (version 0.9.0, ${state}) cannot use: it knows formats up to 37`,
      })
    }
  })

  test('[JRN-15] neither a hub that stopped nor the last process of this one is asked', async () => {
    await among(hubOf(THERE, 'stopped', 37), hubOf(HERE, 'silent', 37))()
  })

  test('[JRN-15] a hub that says nothing of itself may be any', async () => {
    const unknown = { ...hubOf(THERE, 'running', 39), sealed: randomBytes(64) }
    await assert.rejects(among(unknown), { code: 'hubs_older' })
  })
})
