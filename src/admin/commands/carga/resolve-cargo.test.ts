import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommandContext } from '../command-context.ts'
import { resolveCargo } from './resolve-cargo.ts'

const ID = '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22'

test('[CLI-54] a name is asked for once, an id never', async () => {
  const asked: unknown[] = []
  const operations = {
    showCargo: async (request: unknown) => {
      asked.push(request)
      return { id: ID }
    },
  }
  const withAdmin = async <T>(work: (session: unknown) => Promise<T>) => work({ operations })
  const context = { withAdmin } as unknown as CommandContext
  assert.equal(await resolveCargo(context, 'db-password'), ID)
  assert.equal(await resolveCargo(context, ID), ID)
  assert.deepEqual(asked, [{ carga: 'db-password' }])
})
