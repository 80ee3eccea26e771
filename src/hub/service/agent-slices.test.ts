import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAgent, NOW } from '../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import { agentSlices } from './agent-slices.ts'

test('[FLT-7] all agents that are not removed come in slices, between which others have a turn', async () => {
  await using store = await openTemporaryStore()
  const slicesOf = async (): Promise<string[][]> => {
    const slices: string[][] = []
    for await (const agents of agentSlices(store.reader)) {
      slices.push(agents.map(({ hostname }) => hostname))
    }
    return slices
  }
  assert.deepEqual(await slicesOf(), [])
  const names = Array.from({ length: 1000 }, (_, index) => `web-${index}`)
  await store.write(async (writer) => {
    for (const name of names) await writer.insertAgent(newAgent(name))
    await writer.insertAgent({ ...newAgent('gone'), revokedAt: NOW, removedAt: NOW })
    await writer.insertAgent({ ...newAgent('revoked'), revokedAt: NOW })
  })
  const slices = await slicesOf()
  assert.deepEqual(
    slices.map(({ length }) => length),
    [500, 500, 1],
  )
  assert.deepEqual(new Set(slices.flat()), new Set([...names, 'revoked']))
})
